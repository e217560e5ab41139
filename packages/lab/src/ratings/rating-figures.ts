// pure: what is told of the ratings of a run; what came of ratings, in words
import type { Spread } from '../statistics/index.js'

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

/** What ratings are told of: the variants of a result, each with its runs. */
interface Rated {
  readonly variants: readonly {
    readonly name: string
    readonly runs: readonly { readonly ratings?: RatingFigures | undefined }[]
  }[]
}

/** Fewer players than that say little (our choice). */
const FEWEST = 20
const SHOWN = [1, 5, 10, 30, 100]

/** One line for each variant of a result whose runs had ratings, over all of its runs. */
export const ratingSentences = ({ variants }: Rated): string[] =>
  variants.flatMap(({ name, runs }) => {
    const all = runs.flatMap(({ ratings }) => ratings ?? [])
    if (all.length === 0) return []
    const parts = [matchesIn(all), convergenceIn(all), predictionIn(all), newcomersIn(all)]
    return [`${name}: ${parts.filter((part) => part !== '').join('; ')}.`]
  })

const matchesIn = (all: readonly RatingFigures[]) => {
  const matches = all.reduce((sum, one) => sum + one.matches, 0)
  return `${matches} ${matches === 1 ? 'match was' : 'matches were'} rated`
}

function convergenceIn(all: readonly RatingFigures[]): string {
  const points = SHOWN.flatMap((matches) => {
    const found = all.flatMap(({ convergence }) => convergence.filter((one) => one.matches === matches))
    const players = found.reduce((sum, one) => sum + one.players, 0)
    return players < FEWEST ? [] : [`${average(found, 'correlation', 'players').toFixed(2)} after ${matches}`]
  })
  return points.length === 0 ? '' : `rank correlation of new players' mu with their skill ${points.join(', ')} matches`
}

function predictionIn(all: readonly RatingFigures[]): string {
  const found = all.flatMap(({ calibration }): readonly Calibration[] => calibration)
  if (found.length === 0) return ''
  const [predicted, won] = [average(found, 'predicted', 'matches'), average(found, 'won', 'matches')]
  return `favourites, predicted to win ${percent(predicted)}, won ${percent(won)}`
}

function newcomersIn(all: readonly RatingFigures[]): string {
  const of = (name: string) => all.flatMap(({ experience }) => experience.filter((one) => one.name === name))
  const [fresh, known] = [of('first 5'), of('rated before')]
  if (fresh.length === 0 || known.length === 0) return ''
  return `in the first 5 matches ${told(fresh)}, of players rated before ${told(known)}`
}

function told(some: readonly Experience[]): string {
  const spreads = some.map(({ waitMs, favourite }) => ({
    count: waitMs.count,
    wait: waitMs.mean,
    favourite: favourite.mean,
  }))
  const seconds = (average(spreads, 'wait', 'count') / 1000).toFixed(1)
  return `a mean wait of ${seconds} s and a true favourite of ${percent(average(spreads, 'favourite', 'count'))}`
}

/** The average of a field, weighed by another. */
function average<Key extends string, Weight extends string>(
  some: readonly Readonly<Record<Key | Weight, number>>[],
  key: Key,
  weight: Weight,
): number {
  const total = some.reduce((sum, one) => sum + one[weight], 0)
  return total === 0 ? 0 : some.reduce((sum, one) => sum + one[key] * one[weight], 0) / total
}

const percent = (share: number) => `${(share * 100).toFixed(1)} %`
