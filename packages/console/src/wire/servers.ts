// pure: the servers there are, one by one
import type { Moment } from './units.js'

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
}

export interface ServerRow {
  readonly matchId: string
  /** Id of the deployment; null until the service has told it. */
  readonly requestId: string | null
  readonly queue: string
  /** In words of the matchmaker: creating, starting, running, stopping, … */
  readonly phase: string
  /** E.g. `Frankfurt, Germany`; null where it is not known (yet). */
  readonly place: string | null
  readonly host: string | null
  readonly players: number
  /** When its match asked for it. */
  readonly since: Moment
  /** So far, in `currency`; null where the configuration states no price. */
  readonly cost: number | null
}
