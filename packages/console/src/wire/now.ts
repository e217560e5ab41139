// pure: what the console's page is told several times a second
import type { Milliseconds, Moment } from './units.js'

/**
 * The state of everything at one moment. Its size is bounded however many players there are: lists are cut to their
 * stated lengths, and places are clustered. It holds no address and no secret.
 */
export interface Now {
  readonly at: Moment
  /** Whether the program takes players, and if not, why in words. */
  readonly ready: {
    readonly is: boolean
    readonly why: readonly string[]
    /** Whether this process matches; left out where it is the only one. */
    readonly leading?: boolean | undefined
  }
  /** At most 50, in the order of the configuration. */
  readonly queues: readonly QueueNow[]
  readonly queuesLeftOut: number
  readonly map: MapNow
  /** Matches whose players do not know yet where to connect: at most 50, oldest first. */
  readonly forming: readonly FormingMatch[]
  readonly formingLeftOut: number
  readonly servers: ServersNow
  /** Limits of the service's operations in use, fullest first; at most 20. */
  readonly limits: readonly LimitNow[]
  /** Newest first; at most 30. The same problem again counts up instead of taking a line. */
  readonly problems: readonly ProblemNow[]
}

export interface QueueNow {
  readonly name: string
  readonly paused: boolean
  readonly tickets: number
  readonly players: number
  /** Tickets that arrived, and matches that were found, within the last minute. */
  readonly arrivalsPerMinute: number
  readonly matchesPerMinute: number
  /** Waits of the tickets matched within the last hour; null if there were none. */
  readonly waitP50: Milliseconds | null
  readonly waitP95: Milliseconds | null
  /** How long the longest-waiting ticket has waited; null if none waits. */
  readonly oldest: Milliseconds | null
  /** Waiting tickets by how far the queue's rules have given way for them, strictest first; at most 12 steps. */
  readonly relaxed: readonly RelaxedStep[]
}

export interface RelaxedStep {
  /** Milliseconds of waiting at which this step begins. */
  readonly after: Milliseconds
  readonly tickets: number
}

export interface MapNow {
  /** Whether places of those who wait are known here: not while another process matches. */
  readonly seen: boolean
  /** Waiting players whose place is known, by area; at most 400 areas. */
  readonly waiting: readonly WaitingCluster[]
  /** Waiting players whose place is not known; 0 unless `seen`. */
  readonly nowhere: number
  /** Servers by place; at most 200 places. */
  readonly servers: readonly ServerCluster[]
}

/** Degrees; rounded to an area, so that no player can be found by it. */
export interface Spot {
  readonly latitude: number
  readonly longitude: number
}

export interface WaitingCluster extends Spot {
  readonly players: number
  readonly oldest: Milliseconds
}

export interface ServerCluster extends Spot {
  readonly city: string | null
  readonly starting: number
  readonly running: number
  readonly players: number
}

/** What a match does before its players know where to connect. */
export type FormingPhase = 'accepting' | 'allocating' | 'starting' | 'waiting'

export interface FormingMatch {
  readonly matchId: string
  readonly queue: string
  readonly phase: FormingPhase
  readonly players: number
  readonly since: Moment
  /** The middle of its players' places, or its server's place; null where neither is known. */
  readonly spot: Spot | null
}

export interface ServersNow {
  /** Servers by what they do: creating, starting, running, stopping, … in words of the matchmaker. */
  readonly byState: readonly { readonly state: string; readonly count: number }[]
  /** The most that may exist at once; null for no bound. */
  readonly most: number | null
  readonly createsPerMinute: number
  readonly mostCreatesPerMinute: number | null
  /** Null where the configuration states no price. */
  readonly money: Money | null
}

export interface Money {
  /** E.g. `EUR`. */
  readonly currency: string
  readonly pricePerMinute: number
  readonly perHourNow: number
  /** Within the last hour, or since the start if that is later. */
  readonly lastHour: number
  readonly since: Moment
}

export interface LimitNow {
  readonly operation: string
  readonly perSecond: number
  /** 0 to 1 within the last window. */
  readonly used: number
  /** Calls that wait for the limit. */
  readonly waiting: number
}

export interface ProblemNow {
  readonly at: Moment
  /** One sentence, without secrets and addresses. */
  readonly text: string
  readonly count: number
  readonly matchId: string | null
}
