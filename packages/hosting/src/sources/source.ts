import type { Coordinates } from '@muster/core'
import type { EnvironmentVariable } from '@muster/core/api'
import type { AssignedLocation, Assignment, Deploy, Player } from '../records/index.js'

/** A request to create a server, for any source. */
export interface CreateServerRequest {
  /**
   * Id of the server at its source, one for each attempt. The source finds the server by it. Its token derives from
   * it.
   */
  readonly id: string
  readonly deploy: Pick<Deploy, 'application' | 'version' | 'tags'>
  /** All variables of the server's environment, including its token. */
  readonly environment: readonly EnvironmentVariable[]
  /** The server's token. Webhooks about the server contain it too. */
  readonly token: string
  /** The requested location. Undefined: near the players. */
  readonly at: Coordinates | undefined
  readonly players: readonly Player[]
  /** True if only locations that have the image cached are allowed. */
  readonly cachedOnly: boolean
}

/** The outcome of a create. It is `lost` unless the answer proves that nothing was created. */
export type CreateOutcome =
  | { readonly kind: 'created'; readonly handle: string }
  /**
   * - `lost`: the server may exist and must be looked for by its id;
   * - `unavailable`: nothing was created, and a later create may succeed;
   * - `refused`: nothing was created, and repeating the create would not help.
   */
  | { readonly kind: 'lost' | 'unavailable' | 'refused'; readonly error: unknown }
  /** There is no capacity. `handle`: the server that was created anyway, which must be stopped. */
  | { readonly kind: 'no-capacity'; readonly handle: string | undefined; readonly error: unknown }

/** A request to stop a server. */
export interface StopOrder {
  readonly handle: string
  /** Epoch milliseconds since when the server is known to exist. */
  readonly knownAt: number
  /** Who orders the stop. If the same owner orders it again, the second order is ignored. */
  readonly by: unknown
  /**
   * Called before the first request. The request waits until the returned promise resolves, which must happen within a
   * few seconds.
   */
  readonly first?: (() => Promise<void>) | undefined
  /** Called once, when the source has confirmed that the server is stopped. */
  readonly confirmed: () => void
}

/** A create whose response was lost. */
export interface LostCreate {
  readonly id: string
  /** Epoch milliseconds at which the loss was noticed, possibly before a restart. */
  readonly lostAt: number
  /** True if players wait for the server. It is then looked for more often. */
  readonly isAwaited: boolean
}

/** A change of a server that the source follows. */
export type ServerChange =
  /** The server has become READY. `unseenMs`: milliseconds since it was last seen not READY, or since its create. */
  | { readonly kind: 'ready'; readonly handle: string; readonly assignment: Assignment; readonly unseenMs: number }
  /** The server has failed. `detail` is the source's message. */
  | { readonly kind: 'failed'; readonly handle: string; readonly detail: string | undefined }
  /** The server has ended, or the source does not know it. */
  | { readonly kind: 'gone'; readonly handle: string }

/** Receives the reports of a source. */
export interface SourceListener {
  readonly changed: (change: ServerChange) => void
  /**
   * Called when the source finds a server that it does not follow.
   * @param ids the possible ids of the server. Several if the source cannot decide
   * @returns false if the server belongs to nothing that Muster knows
   */
  readonly seen: (ids: readonly string[], handle: string) => boolean
  /** Called when a lost server was not found while players wait. The search continues. */
  readonly late: (id: string) => void
  /** Called when a lost server does not exist. */
  readonly absent: (id: string) => void
  /** Returns true if the process of this server lives, because it has just reported to Muster. */
  readonly isReporting: (handle: string) => boolean
  /** Called when an orphan was stopped: a server that belonged to nothing that Muster knows. */
  readonly reaped: (handle: string) => void
  /** Called when the source has answered a read, so that its servers can be found again. */
  readonly answered: () => void
  readonly unanswered: (error: unknown) => void
  readonly stopped: (handle: string) => void
  readonly unstopped: (handle: string, error: unknown) => void
  readonly problem: (during: 'find' | 'list' | 'status' | 'stop', error: unknown, about: ServerNames) => void
}

/** Identifies a server. The id is used while the handle is unknown. */
export interface ServerNames {
  readonly id?: string | undefined
  readonly handle?: string | undefined
}

/** What a webhook says about a server. It only causes a read of the server's status. */
export interface ServerHint {
  readonly handle: string
  readonly isReady: boolean
}

/** Facts about a server that only a read of its status shows. */
export interface ServerFacts {
  /** Milliseconds since the server's start. Undefined if the source does not report it. */
  readonly ageMs: number | undefined
  readonly location: AssignedLocation | undefined
}

/** A source of servers. A handle is the source's own name of a server, e.g. the request id of a deployment. */
export interface ServerSource {
  /**
   * Checks a request, and returns the function that sends it once. The promise of that function never rejects.
   * `mayWrite` is called immediately before the request is sent. If it returns false, nothing is sent.
   * @throws {InvalidInput} if the source cannot create such a server
   */
  prepare(order: CreateServerRequest): (mayWrite?: () => boolean) => Promise<CreateOutcome>

  /** Stops a server, repeatedly until the source confirms it. A second order for a server sends no further request. */
  stop(order: StopOrder): void
  /** Returns the number of unconfirmed stops. `oldestStopMs` returns the age of the oldest one in milliseconds. */
  stopsPending(): number
  oldestStopMs(): number

  /** Looks for a server whose create was not answered. Leads to `seen` or `absent`, possibly after `late`. */
  find(lost: LostCreate): void
  /** Ends the search for the server with this id. */
  found(id: string): void
  /**
   * Called when a process claims, without proof, to be the server with this id. Leads to `seen` for each server that
   * has the id. The call is cheap, because a process may repeat its claim at any rate.
   */
  claimed(id: string): void
  /** Lets lost servers count as absent after fewer lookups from now on. */
  giveUpSooner(): void
  /** Records that the server with this id must not exist any more. If it appears later, it is stopped at once. */
  ended(id: string): void
  /** Returns the number of orphans that may still run. */
  orphans(): number

  /**
   * Follows a server until it is stopped: its changes are reported with `changed`.
   * @param kind servers of the same kind take about the same time to start
   */
  follow(handle: string, kind: string): void
  /** Records that the server is READY. From now on, only its end matters. */
  settle(handle: string): void
  /** Called when a server has probably changed. Its status is then read. */
  hint(server: ServerNames): void
  /** Reads the facts about a server. Undefined if the server is gone. */
  inspect(handle: string): Promise<ServerFacts | undefined>
  /**
   * Reads the last output of a server, without these secrets. Resolves with undefined if there is none. Never rejects.
   */
  readonly logs: ((handle: string, secrets: readonly string[]) => Promise<string | undefined>) | undefined
  /** Returns the locations with capacity for a build. Undefined if the source cannot: no other location is tried. */
  readonly capacity: ((deploy: Deploy) => Promise<readonly Coordinates[]>) | undefined

  /** Begins the reads of the next two seconds. Must not be called before the stored servers are taken over. */
  watch(now: number): void
  /** Does all other work that is due: repeats stops, and looks for lost servers. */
  advance(now: number): void
  /** Aborts all reads. */
  close(): void
}

/** Opens a source with this listener. */
export type OpenSource = (listener: SourceListener) => ServerSource
