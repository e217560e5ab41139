// pure: what is told of the ratings of a run
import type { Spread } from '../statistics/spread.js'

/** What is told of the ratings of a run. It is plain data, small, whatever the crowd. */
export interface RatingFigures {
  /** Matches that were rated. */
  readonly matches: number
  /** How often the favourite won, beside how often openskill's `predictWin` had said; of matches of two teams. */
  readonly calibration: readonly Calibration[]
  /** How well the ratings of players who began new tell them apart, by the matches that they had played. */
  readonly convergence: readonly Convergence[]
  /** How players fared, by how well their rating was known. */
  readonly experience: readonly Experience[]
}

/** Matches whose favourite was predicted to win with a probability from `from` to 0.05 above. */
export interface Calibration {
  readonly from: number
  readonly matches: number
  /** The average probability with which the favourite was predicted to win. */
  readonly predicted: number
  /** The share of those matches that it won. */
  readonly won: number
}

export interface Convergence {
  /** Matches after which the ratings are compared. */
  readonly matches: number
  /** New players who have played so many. */
  readonly players: number
  /** Spearman's rank correlation of their mu with their true skill. */
  readonly correlation: number
  /** Root of the mean square by which mu differs from true skill, on the scale of the ratings. */
  readonly error: number
}

export interface Experience {
  /** `first 5`, `5–9`, `10–29`, `from 30`: matches that new players had been rated by; or `rated before`. */
  readonly name: string
  /** Players in matches: one who played twice counts twice. */
  readonly players: number
  /** Milliseconds from the ticket's creation until its match was found. */
  readonly waitMs: Spread
  /** How probable it truly was that the favourite of their match wins, from 0.5 to 1. */
  readonly favourite: Spread
}
