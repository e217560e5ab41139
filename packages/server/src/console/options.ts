import type { EventBounds, EventStore } from './event-store.js'
import type { Clock } from '@muster/core/clock'
import type { AddressOf, AttemptLimit, Connection } from '@muster/core/http'
import type { Hello, LimitNow, Now, Role } from '@muster/console/internal'
import type {
  Awaitable,
  Locate,
  Matchmaker,
  QueueDefinition,
  Survey,
  SurveyOptions,
  TicketService,
} from '@muster/matchmaker'
import type { OperatorAction, OperatorCommandName } from '@muster/matchmaker/internal'

/** Opens an event store by its name: 1 to 32 letters. Called once for each name. */
export type OpenEvents = (name: string, bounds: EventBounds) => EventStore

/** The identity of a token's owner. */
export interface Operator {
  /** The name in the audit log. */
  readonly who: string
  readonly role: Role
}

/** The commands of operators that the console has. */
export type ConsoleCommand = Exclude<OperatorCommandName, 'stopServer' | 'pausePool' | 'repeatResult' | 'dropResult'>

/** An act of an operator. */
export interface AuditedAction {
  readonly who: string
  /** The acts that a backend can do too, and those of the console only. */
  readonly what: OperatorAction | 'apply-queue' | 'kill-server' | 'let-bots-in'
  /** Id of the ticket, match, server, player or enrolment key; name of the queue or pool; or number of bots. */
  readonly id: string
}

/**
 * The part of a matchmaker that the console shows and operates. For a matchmaker of several processes, use this
 * process's part: `{ ...partition, on: partition.onMatching }`.
 */
export interface ConsoleMatchmaker extends Pick<
  TicketService,
  ConsoleCommand | 'getTicket' | 'findPlayer' | 'explain' | 'inspect' | 'queueNames' | 'cooldownsOf'
> {
  readonly on: Matchmaker['on']
  /** Undefined, or returns undefined, if this process does not have the tickets. */
  readonly survey?: ((options?: SurveyOptions) => Survey | undefined) | undefined
}

/** Replaces one queue. */
export type ApplyQueue = (
  name: string,
  /** Only its shape is validated: see `defineQueue`. Variables of servers are the current ones. */
  definition: QueueDefinition,
  /** The operator's text, without variables of servers. */
  yaml: string,
) => Promise<{
  /** `file` if the change is also in the configuration file. */
  readonly kept: 'file' | 'memory'
  /** Number of tickets that the changed queue refuses. */
  readonly refused: number
}>

/** Limits and prices, as in the configuration. */
export interface ConsoleSpending {
  readonly maxServers: number
  readonly maxCreatesPerMinute: number
  /** Price of one server; undefined if no price is stated. */
  readonly pricePerMinute?: number | undefined
  /** E.g. `EUR`. */
  readonly currency?: string | undefined
}

/** Processes of servers, by the id of their deployment. */
export interface Processes {
  /** True if one runs. */
  has(requestId: string): boolean
  /** The end of its output; undefined for an id without a process. */
  output(requestId: string): string | undefined
  /** Kills it (SIGKILL). Does nothing for an id without a process. */
  kill(requestId: string): void
}

export interface ConsoleOptions {
  readonly matchmaker: ConsoleMatchmaker
  /** The matchmaker's `locate`, so that recorded tickets hold locations instead of addresses. */
  readonly locate?: Locate | undefined
  /** The matchmaker's name in the configuration. */
  readonly name: string
  /** The version of the program. */
  readonly version: string
  readonly store: Hello['store']
  /** The current queues, in the order of the configuration. */
  readonly queues: () => readonly QueueDefinition[]
  /** Undefined if queues cannot be changed here. A rejection with a `MusterError` is shown to the operator. */
  readonly applyQueue?: ApplyQueue | undefined
  /** Lets operators with the permission `deploy` change `deploy` of a queue. Default false. */
  readonly editDeploy?: boolean | undefined
  /** Identifies the caller by the token in the Authorization header. Undefined for an unknown token. */
  readonly operatorOf: (request: Request, connection: Connection) => Awaitable<Operator | undefined>
  /** Called with operators' acts, for the log. */
  readonly acted: (act: AuditedAction) => void
  readonly spending: () => ConsoleSpending
  /** Use of the service's limits. Default: none is shown. */
  readonly limits?: (() => readonly LimitNow[]) | undefined
  /** Whether the program accepts players. Called for each frame. Default: it does. */
  readonly ready?: (() => Awaitable<Now['ready']>) | undefined
  /** Lets bots arrive; only in `muster dev`. */
  readonly letBotsIn?: ((players: number) => Awaitable<void>) | undefined
  /** The processes of servers on this machine; only in `muster dev`. */
  readonly processes?: Processes | undefined
  /** Bounds of the event history. Default: a day, and at most 64 MiB. */
  readonly stories?: EventBounds | undefined
  /** Opens stores for events that outlive this process. Default: none. */
  readonly openEvents?: OpenEvents | undefined
  /** Returns what this process does not see, in words, e.g. events of other processes. Default: nothing. */
  readonly unseen?: (() => readonly string[]) | undefined
  /** Names without a port that the Host header may have, in addition to addresses and `localhost`. Default none. */
  readonly hosts?: readonly string[] | undefined
  /** Prefix of every path. Default `/console`. */
  readonly basePath?: string | undefined
  /** Finds the client's address, for limits. Default: the socket's peer. */
  readonly address?: AddressOf | undefined
  readonly limitsOfRequests?:
    | {
        /** Default 100 per 5 seconds. */
        readonly perCaller?: AttemptLimit | undefined
        /** Default 200 per 5 seconds. */
        readonly perAddress?: AttemptLimit | undefined
      }
    | undefined
  /** Folder of the page's files. Default: that of `@muster/console`. */
  readonly pages?: URL | undefined
  /** The script of a trial's thread. Default: this package's own. */
  readonly trialWorker?: URL | undefined
  /** Called with unexpected errors. Default: a process warning. */
  readonly onError?: ((error: unknown) => void) | undefined
  readonly clock?: Clock | undefined
}
