// pure: what is told of a run
/** What is told of a run. It is plain data, small, whatever the crowd. */
export interface Figures {
  readonly all: Slice
  /** The same by queue, region of the party's first player, party size, and band of skill. */
  readonly by: Readonly<Record<Dimension, Readonly<Record<string, Slice>>>>
  readonly matches: MatchFigures
  readonly servers: ServerFigures
}

export type Dimension = 'queue' | 'region' | 'partySize' | 'skillBand'

/** What happened to some of the players. */
export interface Slice {
  /** Players in tickets: one who queues twice counts twice. */
  readonly players: number
  /** Shares of those players, from 0 to 1. */
  readonly matched: number
  readonly gaveUp: number
  /** Milliseconds from the ticket's creation until its match was found, of the matched players. */
  readonly waitMs: Spread
  /** Kilometres from each matched player to the middle of the match. */
  readonly distanceKm: Spread
  /** Highest minus lowest skill within the match, for each matched player. */
  readonly skillSpread: Spread
}

/** How a number is spread. All are 0 if there is none. */
export interface Spread {
  readonly count: number
  readonly mean: number
  readonly p10: number
  readonly p50: number
  readonly p90: number
  readonly p95: number
  readonly p99: number
  readonly max: number
}

export interface MatchFigures {
  readonly count: number
  /** Highest minus lowest average skill of the teams. */
  readonly teamGap: Spread
  /** How probable it is that the stronger team wins, from 0.5 to 1. */
  readonly favourite: Spread
}

export interface ServerFigures {
  readonly created: number
  readonly most: number
  readonly hours: number
  /** `hours` times the price of a server hour. */
  readonly cost: number
}
