// pure: what the console's page and its server tell one another of servers
import type { Moment } from './wire.js'

/** The answer of `GET servers`. */
export interface ServerList {
  readonly at: Moment
  /** Numbers over all servers, of which `servers` may leave some out. */
  readonly total: number
  readonly players: number
  /** Null where the configuration states no price. */
  readonly cost: number | null
  /** E.g. `EUR`; empty where none is stated. */
  readonly currency: string
  /** By place, and the oldest first in each; at most 1,000. */
  readonly servers: readonly ServerRow[]
  /** Pools of game servers, by pool and place. */
  readonly pools: readonly PoolRow[]
  /** Where they come from. */
  readonly sources: readonly SourceRow[]
  /** Keys with which servers come by themselves: those of the configuration, then those of other servers. */
  readonly keys: readonly KeyRow[]
}

/** The servers of a source. */
export interface SourceRow {
  /** Its name; null for the deployment service. */
  readonly source: string | null
  readonly servers: number
  /** Of these, those that take no match any more. */
  readonly draining: number
}

/** An enrolment key, and its servers. */
export interface KeyRow {
  /** The first 8 hex digits of its SHA-256. */
  readonly key: string
  readonly pool: string
  readonly place: string
  readonly servers: number
  /** What the configuration allows; null for a key that it does not have any more: that can be revoked. */
  readonly allowed: {
    readonly servers: number
    /** At a time, for each server. */
    readonly matches: number
    /** Null: any. */
    readonly builds: readonly string[] | null
  } | null
  /** Builds that its servers run, as they say. */
  readonly builds: readonly string[]
}

/**
 * Servers of a pool at one place, the matches that wanted one, and what idle servers cost. Counts begin with the
 * process that matches.
 */
export interface PoolRow {
  readonly pool: string
  readonly place: string
  /** Servers that are to be warm now. */
  readonly wanted: number
  /** Servers that are warm: they have registered, and have no match. */
  readonly warm: number
  readonly starting: number
  readonly playing: number
  readonly draining: number
  /** Matches that wanted a server, and those that found a warm one. */
  readonly asked: number
  readonly hits: number
  /** The share that is expected to find one, 0 to 1; null while nobody comes. */
  readonly expectedHit: number | null
  /** Matches of the last hour, or since the start, and those an hour that are expected now. */
  readonly cameLastHour: number
  readonly expectedPerHour: number
  /** Hours for which servers were idle, of all servers together. */
  readonly idleHours: number
  /** In `currency`; null where the configuration states no price. */
  readonly idleCost: number | null
}

/** A game server that lists itself for players, and how many of its seats somebody has. */
interface Listing {
  readonly name: string
  readonly seats: number
  readonly taken: number
  readonly held: number
}

export interface ServerRow {
  /** Id of the server; that of its match, if it is of one match. */
  readonly id: string
  /** Id of the deployment; null until the service has returned it. */
  readonly requestId: string | null
  /** Its pool; null for the server of one match. */
  readonly pool: string | null
  /** Name of its source; null for the deployment service. */
  readonly source: string | null
  /** Of its matches; null without any. */
  readonly queue: string | null
  /** The matches that it serves, at most 8. */
  readonly matches: readonly string[]
  /** What it lists for players, and its seats; null unless it is listed. */
  readonly listing: Listing | null
  /** creating, starting, running, stopping, …; once it has registered: warm, taken, playing, draining, lost. */
  readonly state: string
  /** Why it takes no match any more; null while it may. */
  readonly draining: string | null
  /** Whether it can be drained: it has registered, or is of a pool, and does not drain yet. */
  readonly mayDrain: boolean
  /** Whether it is a process of `muster dev -- COMMAND`, whose output can be read, and which can be killed. */
  readonly isProcess: boolean
  /** E.g. `Frankfurt, Germany`; null where it is not known (yet). */
  readonly place: string | null
  /** Its host; of one that has enrolled, the machine and the slot, as it says: many may be at one host. */
  readonly host: string | null
  readonly players: number
  /** When it was asked for. */
  readonly since: Moment
  /** So far, in `currency`; null where the configuration states no price. */
  readonly cost: number | null
}

/** The end of what a server's process has written. */
export interface ServerOutput {
  readonly text: string
}
