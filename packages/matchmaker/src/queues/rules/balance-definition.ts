// pure: the balance rule, as plain data
import type { Relaxing } from './relaxing.js'
import type { Missing, RuleBase } from './rule-base.js'

/**
 * The teams are even: they differ by at most `max` in a number made from their players; or, with `measure:
 * 'predictedWin'`, none is predicted to beat another with a probability above `max`. Among possible arrangements of the
 * teams, the most even is chosen.
 */
export interface BalanceRule extends RuleBase {
  readonly kind: 'balance'
  /**
   * How teams are compared. `difference` (default): by `attribute` and `aggregate`; `predictedWin`: by the probability
   * that one beats the other, from the `mean` and `uncertainty` of each player's rating, for every two teams.
   */
  readonly measure?: 'difference' | 'predictedWin' | undefined
  /**
   * For `difference`. Name of a number attribute, or `PARTY_SIZE`: with `aggregate: 'max'`, the teams' largest parties
   * are of similar size.
   */
  readonly attribute?: string | undefined
  /** For `difference`. Default `avg`. */
  readonly aggregate?: 'avg' | 'sum' | 'min' | 'max' | undefined
  /** For `predictedWin`. Name of the attribute with the mean of a rating, e.g. `mu` of openskill: within ±1e9. */
  readonly mean?: string | undefined
  /**
   * For `predictedWin`. Name of the attribute with a rating's standard deviation, e.g. `sigma` of openskill: above 0,
   * up to 1e9.
   */
  readonly uncertainty?: string | undefined
  /**
   * For `predictedWin`. How much a team's performance varies from match to match, as a standard deviation on the scale
   * of the ratings. Default 25 / 6, openskill's own for ratings that begin at 25; 250 for such that begin at 1500.
   */
  readonly beta?: number | undefined
  /** The difference at most; or the probability at most, from 0.5 to 1. */
  readonly max: Relaxing
  /**
   * Players who do not have the attribute. Default `refuse`. For `predictedWin` `any` cannot be, and the value is a
   * rating, of which each attribute stands for one that is missing.
   */
  readonly missing?: Missing<number | RatingValue> | undefined
}

/** A rating: normally distributed skill. */
export interface RatingValue {
  /** The mean, within ±1e9. */
  readonly mean: number
  /** The standard deviation, above 0 and up to 1e9. */
  readonly uncertainty: number
}

/** Names of the attributes that hold ratings, if the rule goes by them. */
export const ratingAttributesOf = ({ mean, uncertainty }: BalanceRule): string[] =>
  [mean, uncertainty].filter((name) => name !== undefined)
