// pure: the format of a crowd: players and their behaviour, independent of the queues
import type { Player } from '@muster/matchmaker'

/** The `format` in the first line of a crowd. It changes when earlier versions cannot read new crowds. */
export const CROWD_FORMAT = 'muster-crowd-1'

/**
 * Players who come to play: who they are, when they come, and how they behave in any queue. All behaviour is fixed in
 * advance, e.g. how long each party waits before it gives up. So all queues are tried with the same players.
 */
export interface Crowd {
  readonly header: CrowdHeader
  /** The parties, in order of their first arrival. */
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
   * The parameters with which a synthetic crowd was generated. They allow it to be generated again with another seed.
   * Undefined for recorded traffic.
   */
  readonly made?: CrowdOrigin | undefined
}

/** The parameters with which a synthetic crowd was generated. */
export interface CrowdOrigin {
  /** Whole number from 0 to 2³² − 1. */
  readonly seed: number
  /** Parameters of `generateCrowd`, with all defaults. */
  readonly parameters: unknown
  /** Number of parties in the crowd. A file with fewer is truncated. */
  readonly parties: number
}

/** A party of one or more players that always stay together. */
export interface CrowdParty {
  readonly id: string
  /** Milliseconds from the crowd's start until the party comes for the first time. */
  readonly at: number
  readonly players: readonly CrowdPlayer[]
  /** The queues in which the party waits. Default: all queues of a run that have a team large enough. */
  readonly queues?: readonly string[] | undefined
  /** The priority of the party's tickets. Default 0. */
  readonly priority?: number | undefined
  /** The behaviour of the party each time that it queues. At least one visit. */
  readonly visits: readonly CrowdVisit[]
}

/** A player of a ticket, with further fields for the lab. */
export interface CrowdPlayer extends Player {
  /** Name of the player's region of the world, e.g. `Europe`. Figures are grouped by region. */
  readonly region?: string | undefined
  /** The player's true skill, which decides matches. Queues do not see it: they compare `attributes`. */
  readonly truth?: number | undefined
}

/** The behaviour of a party from the creation of a ticket on. */
export interface CrowdVisit {
  /** Milliseconds of waiting after which the party cancels its ticket. */
  readonly patienceMs: number
  /** True: the party immediately accepts a match that requires acceptance. False: it does not accept. Default true. */
  readonly accepts?: boolean | undefined
  /** Milliseconds of play after which the party leaves its match, or earlier if the match ends. */
  readonly playMs: number
  /** Milliseconds from the end of this visit until the next one. The last visit has none. */
  readonly breakMs?: number | undefined
}
