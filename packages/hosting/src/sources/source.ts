import type { Coordinates } from '@muster/core'
import type { EnvironmentVariable } from '@muster/core/api'
import type { AssignedLocation, Assignment, Deploy, Player } from '../records/index.js'

/** A server requested from a source, independent of any service. */
export interface CreateServerRequest {
  /**
   * Id of the server, one for each attempt. Its token is derived from it, and the source finds the server again by it.
   */
  readonly id: string
  readonly deploy: Pick<Deploy, 'application' | 'version' | 'tags'>
  /** All variables of the server's environment, including its token. */
  readonly environment: readonly EnvironmentVariable[]
  /** The credential with which the server, and any webhook about it, calls Muster. */
  readonly token: string
  /** The requested location. Undefined: near the players. */
  readonly at: Coordinates | undefined
  readonly players: readonly Player[]
  /** True allows only locations that have the image cached. */
  readonly cachedOnly: boolean
}

/** The outcome of a create. It is `lost` unless it is certain that nothing was created. */
export type CreateOutcome =
  | { readonly kind: 'created'; readonly handle: string }
  /**
   * - `lost`: the server may exist and must be looked for by its id;
   * - `unavailable`: nothing was created, and the order is not at fault: a later create may succeed;
   * - `refused`: nothing was created, and repeating the create would not help.
   */
  | { readonly kind: 'lost' | 'unavailable' | 'refused'; readonly error: unknown }
  /** There is no capacity. `handle`: a server was created anyway and must be stopped. */
  | { readonly kind: 'no-capacity'; readonly handle: string | undefined; readonly error: unknown }

/** A request to stop a server. */
export interface StopOrder {
  readonly handle: string
  /** Epoch milliseconds since when the server is known to exist. */
  readonly knownAt: number
  /** The owner that orders the stop. An owner that orders the same stop twice is notified once. */
  readonly by: unknown
  /** Runs before the first request, which waits for it. It must never reject, and end in time. Default: nothing. */
  readonly first?: (() => Promise<void>) | undefined
  /** Called once, when the source has confirmed that the server is stopped. */
  readonly confirmed: () => void
}

/** A create whose response was lost. */
export interface LostCreate {
  readonly id: string
  /** Epoch milliseconds at which the loss was first noticed, even by an earlier process. */
  readonly lostAt: number
  /** True if players wait for the server, so that it is looked for often at first. */
  readonly isAwaited: boolean
}

/** A change of a server whose state Muster follows, i.e. reads until the server has ended. */
export type ServerChange =
  /** READY within the last `unseenMs` milliseconds: since it was last seen without being READY, or was created. */
  | { readonly kind: 'ready'; readonly handle: string; readonly assignment: Assignment; readonly unseenMs: number }
  /** The server is in error. `detail` is the source's message. */
  | { readonly kind: 'failed'; readonly handle: string; readonly detail: string | undefined }
  /** The server has ended, or the source does not know it. */
  | { readonly kind: 'gone'; readonly handle: string }

/** Receives a source's reports, at any time. */
export interface SourceListener {
  readonly changed: (change: ServerChange) => void
  /**
   * A server exists whose state Muster does not follow.
   * @param ids its possible ids. Several only if the source cannot decide
   * @returns false if it belongs to nothing that Muster knows
   */
  readonly seen: (ids: readonly string[], handle: string) => boolean
  /** The players have waited long enough for the lost server with this id. The search continues without them. */
  readonly late: (id: string) => void
  /** The lost server with this id does not exist. */
  readonly absent: (id: string) => void
  /** A server that belonged to nothing was stopped. */
  readonly reaped: (handle: string) => void
  /** The source answered a read of its servers, so what it creates can be found again. */
  readonly answered: () => void
  readonly unanswered: (error: unknown) => void
  readonly stopped: (handle: string) => void
  readonly unstopped: (handle: string, error: unknown) => void
  readonly problem: (during: 'find' | 'list' | 'status' | 'stop', error: unknown, about: ServerNames) => void
}

/** Identifies a server: by its id while its handle is unknown. */
export interface ServerNames {
  readonly id?: string | undefined
  readonly handle?: string | undefined
}

/** The content of a source's message about a server. It is only a reason to read the server's status. */
export interface ServerHint {
  readonly handle: string
  readonly isReady: boolean
}

/** Facts that only a read of one server shows. */
export interface ServerFacts {
  /** Milliseconds since the server's start. Undefined if the source does not report it. */
  readonly ageMs: number | undefined
  readonly location: AssignedLocation | undefined
}

/**
 * A source of servers. A `handle` is the source's own name of a server, with which it is followed and stopped. At the
 * deployment service it is the request id.
 */
export interface ServerSource {
  /**
   * Checks the order and returns the function that sends it once. Nothing is sent before. Its promise never rejects.
   * `mayWrite` is called at the last moment, when the request has waited for its turn. If it returns false, nothing is
   * sent.
   * @throws {InvalidInput} if the source could not handle the order
   */
  prepare(order: CreateServerRequest): (mayWrite?: () => boolean) => Promise<CreateOutcome>

  /**
   * Stops a server, and repeats the request until the stop is confirmed. Only the first order of a stop sends a
   * request.
   */
  stop(order: StopOrder): void
  /** Returns the number of unconfirmed stops, and the age of the oldest one in milliseconds. */
  stopsPending(): number
  oldestStopMs(): number

  /** Looks for a server whose create was not answered. Reports `seen` or `absent`, and possibly `late` before. */
  find(lost: LostCreate): void
  /** Called when the server with this id was found, or no longer needs to be looked for. */
  found(id: string): void
  /**
   * Called when a process claims to be the server with this id, without proof. `seen` is soon called with each server
   * that has the id. A process may repeat this as often as it wants, so its cost is limited.
   */
  claimed(id: string): void
  /** From now on, a lost server counts as absent after fewer lookups. */
  giveUpSooner(): void
  /** Records that no server with this id is wanted any more. One that appears later is stopped at once. */
  ended(id: string): void
  /** Returns the number of servers that cost money and belong to nothing. */
  orphans(): number

  /**
   * Follows an existing server until it is stopped, and reports its changes with `changed`.
   * @param kind servers of the same kind take about the same time to start
   */
  follow(handle: string, kind: string): void
  /** Called when the server is known to be READY. From now on only its end matters. */
  settle(handle: string): void
  /** Called when something may have happened to a server. Pass its id while its handle is unknown. */
  hint(server: ServerNames): void
  /** Reads the facts about one server. Resolves with undefined if the server is gone. */
  inspect(handle: string): Promise<ServerFacts | undefined>
  /** The last output of a server, without these secrets. Resolves with undefined if there is none. Never rejects. */
  readonly logs: ((handle: string, secrets: readonly string[]) => Promise<string | undefined>) | undefined
  /**
   * Returns the locations that have capacity for a build now. Undefined if the source cannot find out: then no other
   * location is tried.
   */
  readonly capacity: ((deploy: Deploy) => Promise<readonly Coordinates[]>) | undefined

  /** Begins the reads that are worth it in the next two seconds. Call it only once the expected servers are known. */
  watch(now: number): void
  /** Does other work that is due: repeats stops, looks for lost servers. */
  advance(now: number): void
  /** Ends all reads. */
  close(): void
}

/** Creates a source with this listener. */
export type OpenSource = (listener: SourceListener) => ServerSource
