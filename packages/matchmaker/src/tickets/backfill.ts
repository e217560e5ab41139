import type { Player } from '@muster/servers'

/** What asks for more players for a running match. */
export interface BackfillInput {
  /** 1 to 64 of A–Z, a–z, 0–9, _ and -. Creating the same backfill twice is creating it once. Default: a new one. */
  readonly id?: string | undefined
  /** A match of this matchmaker whose server runs. */
  readonly matchId: string
  /**
   * The teams that take players, by the name they have in the match. Default: every team, with as many slots as players
   * have left it (see `playersLeft`) or never came. Required for a match of several teams that an earlier process made,
   * each team with `slots` or `players`, because its teams are not known.
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
  /** The version of the backfill that you know. If the backfill has changed since, nothing is done. */
  readonly version: number
  readonly teams: readonly BackfillTeam[]
}

/** OPEN while it takes players; then FILLED, or CANCELLED by `cancelBackfill` or the end of its match. */
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
  /** Ids of the tickets that joined the match through this backfill. */
  readonly tickets: readonly string[]
}
