import type { Coordinates } from '@muster/core'
import type { EnvironmentVariable } from '@muster/core/api'
import type { AssignedLocation, Assignment, Deploy, Player } from '../records/index.js'

/** A server that a source is asked for, in no service's words. */
export interface ServerOrder {
  /**
   * Id of the server, one for each attempt to have one: what its token is derived from. A source finds the server again
   * by it.
   */
  readonly id: string
  readonly deploy: Pick<Deploy, 'application' | 'version' | 'tags'>
  /** All variables of its environment, its token among them. */
  readonly environment: readonly EnvironmentVariable[]
  /** The credential with which the server, and whoever tells of it, calls Muster. */
  readonly token: string
  /** The place at which it is wanted; undefined: near the players. */
  readonly at: Coordinates | undefined
  readonly players: readonly Player[]
  /** Whether only places that have the image cached are wanted. */
  readonly cachedOnly: boolean
}

/** What came of a create. What does not prove that nothing was created is `lost`. */
export type CreateOutcome =
  | { readonly kind: 'created'; readonly handle: string }
  /**
   * - `lost`: the server may exist; it has to be looked for by its id;
   * - `unavailable`: nothing was created, and the order is not at fault: a later create may succeed;
   * - `refused`: nothing was created, and repeating the create would not help.
   */
  | { readonly kind: 'lost' | 'unavailable' | 'refused'; readonly error: unknown }
  /** There is no capacity. `handle`: a server was created all the same, and has to be stopped. */
  | { readonly kind: 'no-capacity'; readonly handle: string | undefined; readonly error: unknown }

/** A server to be stopped. */
export interface StopOrder {
  readonly handle: string
  /** Epoch milliseconds since when the server is known to exist. */
  readonly knownAt: number
  /** Who orders it: whoever orders it twice is told once. */
  readonly by: unknown
  /** Runs before the first request, which waits for it. Bounded in time, and never rejects. Default: nothing. */
  readonly first?: (() => Promise<void>) | undefined
  /** Called once, when the source has confirmed that the server is stopped. */
  readonly confirmed: () => void
}

/** A create whose answer was lost. */
export interface LostCreate {
  readonly id: string
  /** Epoch milliseconds at which that was first noticed, also by an earlier process. */
  readonly lostAt: number
  /** Whether players wait for it, so that it is looked for often at first. */
  readonly isAwaited: boolean
}

/** What has become of a server that is followed. */
export type ServerChange =
  /** READY within the last `unseenMs` milliseconds: since it was last seen not READY, or was created. */
  | { readonly kind: 'ready'; readonly handle: string; readonly assignment: Assignment; readonly unseenMs: number }
  /** The server is in error; `detail` in the source's words. */
  | { readonly kind: 'failed'; readonly handle: string; readonly detail: string | undefined }
  /** The server has ended, or the source does not know it. */
  | { readonly kind: 'gone'; readonly handle: string }

/** What a source tells, at any time. */
export interface SourceListener {
  readonly changed: (change: ServerChange) => void
  /**
   * A server exists that is not followed.
   * @param ids that it may have; several only where the source cannot tell
   * @returns false if it belongs to nothing that Muster knows
   */
  readonly seen: (ids: readonly string[], handle: string) => boolean
  /** The players have waited long enough for the lost server of this id; the search continues without them. */
  readonly late: (id: string) => void
  /** The lost server of this id does not exist. */
  readonly absent: (id: string) => void
  /** A server that belonged to nothing was stopped. */
  readonly reaped: (handle: string) => void
  /** The source answered a question about its servers: what it creates can be found again. */
  readonly answered: () => void
  readonly unanswered: (error: unknown) => void
  readonly stopped: (handle: string) => void
  readonly unstopped: (handle: string, error: unknown) => void
  readonly problem: (during: 'find' | 'list' | 'status' | 'stop', error: unknown, about: ServerNames) => void
}

/** By what a server is known: by its id while its handle is not known yet. */
export interface ServerNames {
  readonly id?: string | undefined
  readonly handle?: string | undefined
}

/** What the message of a source says of a server; it is only a reason to ask. */
export interface ServerHint {
  readonly handle: string
  readonly isReady: boolean
}

/** What only a question about one server shows. */
export interface ServerFacts {
  /** Milliseconds since its start; undefined if the source does not tell. */
  readonly ageMs: number | undefined
  readonly location: AssignedLocation | undefined
}

/**
 * Where servers come from. A `handle` is the source's own name of a server, by which it is followed and stopped; at the
 * deployment service it is the request id.
 */
export interface ServerSource {
  /**
   * Checks the order and returns the function that sends it once: nothing leaves before. Its promise never rejects.
   * `mayWrite` is asked at the last moment, when the request has waited for its turn: if it says no, nothing leaves.
   * @throws {InvalidInput} if the source could not be asked for it
   */
  prepare(order: ServerOrder): (mayWrite?: () => boolean) => Promise<CreateOutcome>

  /** Stops a server, and repeats that until it is confirmed. One that was ordered already is requested once. */
  stop(order: StopOrder): void
  /** Number of stops that are not confirmed, and milliseconds since the oldest of them was ordered. */
  stopsPending(): number
  oldestStopMs(): number

  /** Looks for a server whose create was not answered: `seen`, or `absent`, and before that perhaps `late`. */
  find(lost: LostCreate): void
  /** The server of this id was found, or need not be looked for. */
  found(id: string): void
  /**
   * A process says that it is the server of this id, in a way that proves nothing: soon `seen` is told each server that
   * has the id. A process may repeat this at will, so what it costs is bounded.
   */
  claimed(id: string): void
  /** From now on, a lost server counts as absent after fewer looks. */
  giveUpSooner(): void
  /** Notes that no server of this id is wanted any more: one that appears later is stopped at once. */
  ended(id: string): void
  /** Servers that cost money and belong to nothing. */
  strays(): number

  /**
   * Follows a server that exists, until it is stopped: `changed` tells.
   * @param kind servers of the same kind take about the same time to start
   */
  follow(handle: string, kind: string): void
  /** The server is known to be READY: only its end is of interest from now on. */
  settle(handle: string): void
  /** Something may have happened to a server; by its id while no handle is known. */
  hint(server: ServerNames): void
  /** Asks about one server. Resolves with undefined if it is gone. */
  look(handle: string): Promise<ServerFacts | undefined>
  /** What a server wrote last, without these secrets. Resolves with undefined if there is nothing; never rejects. */
  readonly logs: ((handle: string, secrets: readonly string[]) => Promise<string | undefined>) | undefined
  /** The places that have capacity for a build now. Undefined if the source cannot tell: nothing is tried elsewhere. */
  readonly capacity: ((deploy: Deploy) => Promise<readonly Coordinates[]>) | undefined

  /** Reads what is worth it within the next two seconds. Not before it is known which servers there are to be. */
  watch(now: number): void
  /** Does the rest that is due: repeats stops, looks for lost servers. */
  advance(now: number): void
  /** Ends all reads. */
  close(): void
}

/** Makes a source that tells this listener. */
export type OpenSource = (listener: SourceListener) => ServerSource
