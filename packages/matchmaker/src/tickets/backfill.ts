import type { Player } from '../player.js'

/** What asks for more players for a running match. */
export interface BackfillInput {
  /** 1 to 64 of A–Z, a–z, 0–9, _ and -. Creating the same backfill twice is creating it once. Default: a new one. */
  readonly id?: string | undefined
  /** A match of this matchmaker whose server runs. */
  readonly matchId: string
  /**
   * The teams that take players, by the name they have in the match. Default: every team, as far as it lacks
   * players of those who were matched and did not leave (see `playersLeft`). Of a match of several teams
   * that an earlier process made it is not known who is in which: there it must be given, each team with `slots` or
   * `players`.
   */
  readonly teams?: readonly BackfillTeam[] | undefined
  /** Like that of a ticket. Default 0. */
  readonly priority?: number | undefined
}

export interface BackfillTeam {
  readonly name: string
  /** How many more players it takes. Default: as many as it lacks. */
  readonly slots?: number | undefined
  /** Who is in it: rules count them. Default: those who were matched and did not leave. */
  readonly players?: readonly Player[] | undefined
}

/** What changes a backfill. */
export interface BackfillChange {
  /** That of the backfill as you know it: if it has changed since, nothing is done. */
  readonly version: number
  readonly teams: readonly BackfillTeam[]
}

/** OPEN, as long as it takes players; FILLED; or CANCELLED, by `cancelBackfill` or because its match ended. */
export type BackfillStatus = 'OPEN' | 'FILLED' | 'CANCELLED'

/** A backfill as it is at one moment. It holds no address. */
export interface Backfill {
  readonly id: string
  /** Grows by 1 with every change; 1 at first. */
  readonly version: number
  readonly matchId: string
  readonly queue: string
  readonly status: BackfillStatus
  /**
   * Epoch milliseconds. Rules relax with its waiting time as they do with that of a ticket, from where they were when
   * the match was found (at the strictest, if an earlier process found it).
   */
  readonly createdAt: number
  readonly teams: readonly { readonly name: string; readonly slots: number; readonly players: readonly string[] }[]
  /** Ids of the tickets that came into the match through it. */
  readonly tickets: readonly string[]
}
