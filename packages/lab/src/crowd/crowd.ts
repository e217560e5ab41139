// pure: a crowd: players and their behaviour, independent of the queues
import type { Player } from '@muster/matchmaker'

/** The `format` in the first line of a crowd. It changes if older versions could not read new crowds. */
export const CROWD_FORMAT = 'muster-crowd-1'

/**
 * Players who come to play: who they are, when they come, and how they behave in any queue. Behaviour is decided in
 * advance, e.g. how long each party would wait before it gives up, so that all queues get the same players.
 */
export interface Crowd {
  readonly header: CrowdHeader
  /** In order of first arrival. */
  readonly parties: readonly CrowdParty[]
}

/** The first line of a crowd. */
export interface CrowdHeader {
  readonly format: typeof CROWD_FORMAT
  /** Epoch milliseconds at which the crowd begins. All other times are relative to it. */
  readonly startsAt: number
  /** Milliseconds during which parties come for the first time. */
  readonly durationMs: number
  /**
   * How a synthetic crowd was generated, so that it can be generated again with another seed. Undefined for recorded
   * traffic.
   */
  readonly made?: CrowdOrigin | undefined
}

/** How a synthetic crowd was generated. */
export interface CrowdOrigin {
  /** Whole number from 0 to 2³² − 1. */
  readonly seed: number
  /** Parameters of `generateCrowd`, with all defaults. */
  readonly parameters: unknown
  /** Number of parties: a file with fewer is truncated. */
  readonly parties: number
}

/** A party that stays together: one player, or several. */
export interface CrowdParty {
  readonly id: string
  /** Milliseconds from the crowd's start until it comes for the first time. */
  readonly at: number
  readonly players: readonly CrowdPlayer[]
  /** The queues in which it waits. Default: all queues of a run. */
  readonly queues?: readonly string[] | undefined
  /** The ticket's priority. Default 0. */
  readonly priority?: number | undefined
  /** The behaviour of the party each time it queues, at least once. */
  readonly visits: readonly CrowdVisit[]
}

/** A player of a ticket, with further fields for the lab. */
export interface CrowdPlayer extends Player {
  /** Name of the region of the world, e.g. `Europe`. Figures are grouped by it. */
  readonly region?: string | undefined
  /** The player's true skill, which decides matches. Queues compare `attributes`. */
  readonly truth?: number | undefined
}

/** The behaviour of a party after creating a ticket. */
export interface CrowdVisit {
  /** Milliseconds of waiting after which it cancels its ticket. */
  readonly patienceMs: number
  /** Accepts a match that requires acceptance. Default true: immediately. */
  readonly accepts?: boolean | undefined
  /** Milliseconds of play after which it leaves its match: at its end, or earlier. */
  readonly playMs: number
  /** Milliseconds from the end of this visit until the next; the last visit has none. */
  readonly breakMs?: number | undefined
}
