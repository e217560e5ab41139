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

/** Opens the event store with a name of 1 to 32 letters. Called at most once for each name. */
export type OpenEvents = (name: string, bounds: EventBounds) => EventStore

/** An operator of the console: the owner of a token. */
export interface Operator {
  /** The name in the audit log. */
  readonly who: string
  readonly role: Role
}

/** The operator's commands that the console offers. */
export type ConsoleCommand = Exclude<OperatorCommandName, 'stopServer' | 'pausePool' | 'repeatResult' | 'dropResult'>

/** An action of an operator, as the audit log and the program's log record it. */
export interface AuditedAction {
  readonly who: string
  /** The actions that a backend may also do, and the actions that only the console offers. */
  readonly what: OperatorAction | 'apply-queue' | 'kill-server' | 'let-bots-in'
  /** Id of the ticket, match, server, player or enrolment key; name of the queue or pool; or number of bots. */
  readonly id: string
}

/**
 * The part of a matchmaker that the console shows and operates. If several processes share the matchmaker, pass this
 * process's part: `{ ...partition, on: partition.onMatching }`.
 */
export interface ConsoleMatchmaker extends Pick<
  TicketService,
  ConsoleCommand | 'getTicket' | 'findPlayer' | 'explain' | 'inspect' | 'queueNames' | 'cooldownsOf'
> {
  readonly on: Matchmaker['on']
  /** Counts the waiting tickets. Undefined, or returns undefined, if this process does not hold the tickets. */
  readonly survey?: ((options?: SurveyOptions) => Survey | undefined) | undefined
}

/** Replaces the definition of one queue. */
export type ApplyQueue = (
  name: string,
  /** The new queue. Only its shape is validated: see `defineQueue`. The current variables of servers are included. */
  definition: QueueDefinition,
  /** The operator's text. It lacks the variables of servers. */
  yaml: string,
) => Promise<{
  /** `file` if the configuration file was changed too. `memory`: a restart drops the change. */
  readonly kept: 'file' | 'memory'
  /** Number of waiting tickets that do not fit the changed queue. */
  readonly refused: number
}>

/** Limits and prices, as in the configuration. */
export interface ConsoleSpending {
  readonly maxServers: number
  readonly maxCreatesPerMinute: number
  /** Price of one server per minute; undefined if no price is configured. */
  readonly pricePerMinute?: number | undefined
  /** Currency of the price, e.g. `EUR`. */
  readonly currency?: string | undefined
}

/** The processes of servers on this machine, by the id of their deployment. */
export interface Processes {
  /** Returns true if the deployment's process runs. */
  has(requestId: string): boolean
  /** Returns the end of the process's output; undefined for an id without a process. */
  output(requestId: string): string | undefined
  /** Kills the process (SIGKILL). Does nothing for an id without a process. */
  kill(requestId: string): void
}

export interface ConsoleOptions {
  readonly matchmaker: ConsoleMatchmaker
  /** The matchmaker's `locate`. It lets recorded tickets hold locations instead of IP addresses. */
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
  /** True: operators with the permission `deploy` may change `deploy` of a queue. Default false. */
  readonly editDeploy?: boolean | undefined
  /** Identifies the caller by the token in the Authorization header. Undefined for an unknown token. */
  readonly operatorOf: (request: Request, connection: Connection) => Awaitable<Operator | undefined>
  /** Called with each action of an operator, for the program's log. */
  readonly acted: (act: AuditedAction) => void
  readonly spending: () => ConsoleSpending
  /** Returns the use of the service's limits. Default: no limits are shown. */
  readonly limits?: (() => readonly LimitNow[]) | undefined
  /** Returns whether the program is ready for players. Called for each frame. Default: it is ready. */
  readonly ready?: (() => Awaitable<Now['ready']>) | undefined
  /** Makes simulated players join; only in `muster dev`. */
  readonly letBotsIn?: ((players: number) => Awaitable<void>) | undefined
  /** The processes of servers on this machine; only in `muster dev`. */
  readonly processes?: Processes | undefined
  /** Bounds of the event history. Default: a day, and at most 64 MiB. */
  readonly stories?: EventBounds | undefined
  /** Opens stores for events that outlive this process. Default: none. */
  readonly openEvents?: OpenEvents | undefined
  /** Returns sentences about what this process does not see, e.g. events of other processes. Default: none. */
  readonly unseen?: (() => readonly string[]) | undefined
  /** Names without a port that the Host header may have, in addition to IP addresses and `localhost`. Default none. */
  readonly hosts?: readonly string[] | undefined
  /** Finds the client's address, for limits. Default: the socket's peer. */
  readonly address?: AddressOf | undefined
  readonly limitsOfRequests?:
    | {
        /** Limit of requests of one caller. Default 100 per 5 seconds. */
        readonly perCaller?: AttemptLimit | undefined
        /** Limit of requests from one address. Default 200 per 5 seconds. */
        readonly perAddress?: AttemptLimit | undefined
      }
    | undefined
  /** Folder of the page's files. Default: that of `@muster/console`. */
  readonly pages?: URL | undefined
  /** The script that runs a trial on its thread. Default: this package's own. */
  readonly trialWorker?: URL | undefined
  /** Called with unexpected errors. Default: a process warning. */
  readonly onError?: ((error: unknown) => void) | undefined
  /** A clock with the times of the matchmaker. Default: the system's. */
  readonly clock?: Clock | undefined
}
