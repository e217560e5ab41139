// pure: messages about servers between the console's page and its server
import type { Moment } from './wire.js'

/** The response of `GET servers`. */
export interface ServerList {
  readonly at: Moment
  /** Totals of all servers, because `servers` may omit some of them. */
  readonly total: number
  readonly players: number
  /** Total cost of all servers so far; null if the configuration has no price. */
  readonly cost: number | null
  /** Currency of all costs, e.g. `EUR`; empty if the configuration has none. */
  readonly currency: string
  /** At most 1,000 servers, sorted by location, then by age with the oldest first. */
  readonly servers: readonly ServerRow[]
  /** Pools of game servers, by pool and location. */
  readonly pools: readonly PoolRow[]
  /** The sources of the servers. */
  readonly sources: readonly SourceRow[]
  /** The enrolment keys: those of the configuration first, then removed ones that still have servers. */
  readonly keys: readonly KeyRow[]
}

/** The servers of a source. */
export interface SourceRow {
  /** Name of the source. Null for the deployment service. */
  readonly source: string | null
  readonly servers: number
  /** Number of servers of the source that accept no further match. */
  readonly draining: number
}

/** An enrolment key and its servers. */
export interface KeyRow {
  /** The first 8 hexadecimal digits of the key's SHA-256. */
  readonly key: string
  readonly pool: string
  readonly place: string
  readonly servers: number
  /**
   * The limits in the configuration. Null for a key that the configuration no longer has, which can then be revoked.
   */
  readonly allowed: {
    readonly servers: number
    /** Maximum number of concurrent matches of each server. */
    readonly matches: number
    /** The builds that may enrol; null for any build. */
    readonly builds: readonly string[] | null
  } | null
  /** The builds that the key's servers report. */
  readonly builds: readonly string[]
}

/**
 * The servers of a pool at one location, the matches that requested one, and the cost of idle servers. Counts begin
 * when the process that makes the matches has started.
 */
export interface PoolRow {
  readonly pool: string
  readonly place: string
  /** Target number of warm servers. */
  readonly wanted: number
  /** Number of warm servers, which have registered and have no match. */
  readonly warm: number
  readonly starting: number
  readonly playing: number
  readonly draining: number
  /** Number of matches that requested a server, and of those that got a warm one. */
  readonly asked: number
  readonly hits: number
  /**
   * Expected fraction of the matches that get a warm server, from 0 to 1. Null without matches, or with enrolled
   * servers.
   */
  readonly expectedHit: number | null
  /**
   * Number of matches in the last hour, or since the start if that is later. `expectedPerHour` is the expected number
   * per hour.
   */
  readonly cameLastHour: number
  readonly expectedPerHour: number
  /** Total idle hours of all servers. */
  readonly idleHours: number
  /** Cost of idle servers in `currency`; null if the configuration has no price. */
  readonly idleCost: number | null
}

/** The listing of a game server for players, and its taken seats. */
interface ServerListing {
  readonly name: string
  readonly seats: number
  readonly taken: number
  readonly held: number
}

export interface ServerRow {
  /** Id of the server. For the server of one match, the id of that match. */
  readonly id: string
  /** Id of the deployment. Null until the service has returned it. */
  readonly requestId: string | null
  /** Name of the server's pool. Null for the server of one match. */
  readonly pool: string | null
  /** Name of the server's source. Null for the deployment service. */
  readonly source: string | null
  /** The queue of its matches. Null without matches. */
  readonly queue: string | null
  /** Ids of the matches on the server, at most 8. */
  readonly matches: readonly string[]
  /** The server's public listing and seats. Null unless it is listed. */
  readonly listing: ServerListing | null
  /**
   * The state: creating, starting, running, stopping, …. A server that has registered instead has the state warm,
   * taken, playing, draining or lost.
   */
  readonly state: string
  /** Why the server accepts no further match; null while it may get one. */
  readonly draining: string | null
  /** True if the server can be drained: it has registered or belongs to a pool, and is not draining yet. */
  readonly mayDrain: boolean
  /** True for a local process of `muster dev -- COMMAND`, which can be killed and whose output can be read. */
  readonly isProcess: boolean
  /** Location of the server, e.g. `Frankfurt, Germany`; null while it is not known. */
  readonly place: string | null
  /**
   * The host of the server. An enrolled server reports a machine and a slot instead, because several servers may run on
   * one host.
   */
  readonly host: string | null
  readonly players: number
  /** When the server was requested. */
  readonly since: Moment
  /** Cost so far in `currency`; null if the configuration has no price. */
  readonly cost: number | null
}

/** The end of the output of a server's process. */
export interface ServerOutput {
  readonly text: string
}
