// pure: a crowd: players who come, whatever queue they find
import type { Player } from '@muster/matchmaker'

/** The `format` in the first line of a crowd. It changes when older readers could not read new crowds. */
export const CROWD_FORMAT = 'muster-crowd-1'

/**
 * Players who come to play: who they are, when they come, and what they would do in any queue. What they would do is
 * decided beforehand, e.g. how long each party would wait before it gives up: so that two queues meet the same players.
 */
export interface Crowd {
  readonly header: CrowdHeader
  /** In the order in which they first come. */
  readonly parties: readonly CrowdParty[]
}

/** The first line of a crowd. */
export interface CrowdHeader {
  readonly format: typeof CROWD_FORMAT
  /** Epoch milliseconds at which the crowd begins: all other times count from here. */
  readonly startsAt: number
  /** Milliseconds during which parties come for the first time. */
  readonly durationMs: number
  /** How a synthetic crowd was made, so that it can be made again with another seed. None for recorded traffic. */
  readonly made?: CrowdOrigin | undefined
}

/** How a synthetic crowd was made. */
export interface CrowdOrigin {
  /** Whole number from 0 to 2³² − 1. */
  readonly seed: number
  /** As of `generateCrowd`, with all defaults. */
  readonly parameters: unknown
  /** How many parties it has: a file with fewer is torn. */
  readonly parties: number
}

/** A party that stays together: one player, or several. */
export interface CrowdParty {
  readonly id: string
  /** Milliseconds from the crowd's start until it comes for the first time. */
  readonly at: number
  readonly players: readonly CrowdPlayer[]
  /** The queues it wants. Default: all queues of a run. */
  readonly queues?: readonly string[] | undefined
  /** As of a ticket. Default 0. */
  readonly priority?: number | undefined
  /** What it does each time it queues, at least once. */
  readonly visits: readonly CrowdVisit[]
}

/** A player as a ticket has it, and what only the lab knows. */
export interface CrowdPlayer extends Player {
  /** Name of the part of the world, e.g. `Europe`: figures are grouped by it. */
  readonly region?: string | undefined
  /** The player's true skill, which decides matches; what a queue compares is in `attributes`. */
  readonly truth?: number | undefined
}

/** What a party does from a create of its ticket on. */
export interface CrowdVisit {
  /** Milliseconds of waiting after which it cancels its ticket. */
  readonly patienceMs: number
  /** Whether it accepts a match that requires acceptance. Default true: at once. */
  readonly accepts?: boolean | undefined
  /** Milliseconds of play after which it leaves its match: at its end, or earlier. */
  readonly playMs: number
  /** Milliseconds from the end of this visit until the next; the last visit has none. */
  readonly breakMs?: number | undefined
}
