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
import type { BackendAct } from '@muster/matchmaker/internal'

/** Opens a store of events by its name: 1 to 32 letters. Called once for each name. */
export type OpenEvents = (name: string, bounds: EventBounds) => EventStore

/** Who a token says one is. */
export interface Operator {
  /** The name in the audit log. */
  readonly who: string
  readonly role: Role
}

/** Something that an operator did. */
export interface Act {
  readonly who: string
  /** What a backend can do too, and what the console alone does. */
  readonly what: BackendAct['what'] | 'cancel-ticket' | 'apply-queue' | 'kill-server' | 'let-bots-in'
  /** Id of the ticket, match, server, player or enrolment key, name of the queue or pool, or number of bots. */
  readonly id: string
}

/**
 * What the console shows and operates: a matchmaker of this process, or what this process has of one that several
 * processes share: `{ ...partition, on: partition.onMatching }`.
 */
export interface ConsoleMatchmaker extends Pick<
  TicketService,
  | 'getTicket'
  | 'findPlayer'
  | 'cancelTicket'
  | 'explain'
  | 'inspect'
  | 'stopMatch'
  | 'drainServer'
  | 'revokeEnrolment'
  | 'queueNames'
  | 'pauseQueue'
  | 'resumeQueue'
  | 'cooldownsOf'
  | 'forgive'
> {
  readonly on: Matchmaker['on']
  /** Undefined, or returning it, where this process does not have the tickets. */
  readonly survey?: ((options?: SurveyOptions) => Survey | undefined) | undefined
}

/** Replaces one queue. */
export type ApplyQueue = (
  name: string,
  /** Checked to be a definition by shape only: see `defineQueue`. Variables of servers are those in force. */
  definition: QueueDefinition,
  /** What the operator wrote, without variables of servers. */
  yaml: string,
) => Promise<{
  /** Whether the change is also in the configuration file. */
  readonly kept: 'file' | 'memory'
  /** Number of tickets that the new queue refuses. */
  readonly refused: number
}>

/** Bounds and prices, as in the configuration. */
export interface ConsoleSpending {
  readonly maxServers: number
  readonly maxCreatesPerMinute: number
  /** Of one server; undefined if no price is stated. */
  readonly pricePerMinute?: number | undefined
  /** E.g. `EUR`. */
  readonly currency?: string | undefined
}

/** Processes of servers, by the id of their deployment. */
export interface Processes {
  /** Whether one runs. */
  has(requestId: string): boolean
  /** The end of what it has written; undefined for an id that has no process. */
  output(requestId: string): string | undefined
  /** Ends it at once (SIGKILL). Does nothing for an id that has no process. */
  kill(requestId: string): void
}

export interface ConsoleOptions {
  readonly matchmaker: ConsoleMatchmaker
  /** The matchmaker's `locate`, so that recorded tickets hold places instead of addresses. */
  readonly locate?: Locate | undefined
  /** The matchmaker's name in the configuration. */
  readonly name: string
  /** Of the program. */
  readonly version: string
  readonly store: Hello['store']
  /** The queues in force, in the order of the configuration. */
  readonly queues: () => readonly QueueDefinition[]
  /** Undefined if queues cannot be changed here. A rejection with a `MusterError` is shown to the operator. */
  readonly applyQueue?: ApplyQueue | undefined
  /** Whether who has the permission `deploy` may change `deploy` of a queue. Default false. */
  readonly editDeploy?: boolean | undefined
  /** Identifies the caller, by the token in the Authorization header alone. Undefined for an unknown token. */
  readonly operatorOf: (request: Request, connection: Connection) => Awaitable<Operator | undefined>
  /** Called with what operators do, for the log. */
  readonly acted: (act: Act) => void
  readonly spending: () => ConsoleSpending
  /** Use of the service's limits. Default: none is shown. */
  readonly limits?: (() => readonly LimitNow[]) | undefined
  /** Whether the program takes players. Asked for each frame. Default: it does. */
  readonly ready?: (() => Awaitable<Now['ready']>) | undefined
  /** Lets a crowd of bots arrive; in `muster dev` only. */
  readonly letBotsIn?: ((players: number) => Awaitable<void>) | undefined
  /** The processes of servers on this machine; in `muster dev` only. */
  readonly processes?: Processes | undefined
  /** How much is remembered of what happened. Default: a day, and 64 MiB at most. */
  readonly stories?: EventBounds | undefined
  /** Opens what keeps events beyond this process. Default: they end with it. */
  readonly openEvents?: OpenEvents | undefined
  /** What this process does not see, in words, e.g. of other processes. Default: nothing. */
  readonly unseen?: (() => readonly string[]) | undefined
  /** Names without a port that the Host header may have, besides addresses and `localhost`. Default none. */
  readonly hosts?: readonly string[] | undefined
  /** Prefix of every path. Default `/console`. */
  readonly basePath?: string | undefined
  /** Finds the client's address, for limits. Default: the socket's other end. */
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
  /** The program of a trial's thread. Default: this package's own. */
  readonly trialWorker?: URL | undefined
  /** Called with unexpected errors. Default: a process warning. */
  readonly onError?: ((error: unknown) => void) | undefined
  readonly clock?: Clock | undefined
}
