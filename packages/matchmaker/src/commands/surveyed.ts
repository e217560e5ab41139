import type { Coordinates } from '@muster/core'
import type { Inspection } from './inspection.js'
import type { AllocationPhase } from '@muster/servers'

export interface SurveyOptions {
  /**
   * Degrees that an area is high and wide: places are told by areas alone, so that no player can be found. 0.5 to 30;
   * default 3 (our choice).
   */
  readonly areaDegrees?: number | undefined
  /** Matches that `forming` lists at most. Default 50. */
  readonly mostForming?: number | undefined
}

/**
 * Looks at everything that waits or plays, a few tickets at a time, so that it never holds up the event loop, however
 * many there are. What changes meanwhile may be counted or not; the order is that of the queues and matches.
 */
export interface Survey {
  /** Continues with no more than `most` tickets and matches. False once all were looked at. */
  step(most: number): boolean
  /** What was seen so far. */
  result(): Surveyed
}

/** Times are epoch milliseconds. No place is more exact than an area, except for those of servers. */
export interface Surveyed {
  /** In the order of their definition. A ticket that waits in several queues is counted in each. */
  readonly queues: readonly QueueSurvey[]
  /** Players who search, by area; those whose place is not known are `nowhere`. */
  readonly areas: readonly AreaSurvey[]
  readonly nowhere: number
  /** Matches whose players do not know yet where to connect: the oldest, and the number of all. */
  readonly forming: readonly FormingSurvey[]
  readonly formingCount: number
  /** Servers that exist or may exist, by phase and place. */
  readonly servers: readonly ServerSurvey[]
  /** Why no more servers are deployed now, as in `inspect`; undefined if they are. */
  readonly held: Inspection['held']
}

export interface QueueSurvey {
  readonly name: string
  /** Whether it is paused, by `pauseQueue`. */
  readonly paused: boolean
  readonly tickets: number
  readonly players: number
  /** When the wait of the oldest ticket began. */
  readonly oldest: number | undefined
  /**
   * Tickets by how far rules have given way: `afterMs` is the wait at which these limits began, ascending from 0; in a
   * queue with `targetWaitMs`, that of a ticket without a head start.
   */
  readonly relaxed: readonly { readonly afterMs: number; readonly tickets: number }[]
}

/** The middle of an area, and the players there. */
export interface AreaSurvey extends Coordinates {
  readonly players: number
  /** When the longest wait there began. */
  readonly oldest: number
}

export interface FormingSurvey {
  readonly matchId: string
  readonly queue: string
  /** `asking`: players are asked whether they accept; `due`: no server is asked for yet. */
  readonly phase: 'asking' | 'due' | AllocationPhase
  readonly players: number
  readonly foundAt: number
  /** The middle of the area in which most of its players are; undefined where their places are unknown. */
  readonly area: Coordinates | undefined
}

export interface ServerSurvey {
  readonly phase: AllocationPhase
  readonly city: string | undefined
  readonly place: Coordinates | undefined
  readonly servers: number
  readonly players: number
}
