// pure: what a rating book notes of the matches, and what follows from it
import { rankCorrelation, rounded, spreadOf } from '../statistics/index.js'
import type { Calibration, Convergence, Experience, RatingFigures } from './rating-figures.js'

/** What the notes know of a player: matches rated in this run, mu, and true skill on the same scale. */
export interface Noted {
  readonly matches: number
  readonly mu: number
  readonly skill: number
  readonly isNew: boolean
}

export interface Notes {
  /**
   * A match has been played.
   * @param predicted the probability that the winner wins, as it was predicted; undefined unless there were two teams
   */
  matched(predicted: number | undefined): void
  /** @param favourite how probable it truly was that the favourite of the player's match wins. */
  played(player: Noted, waitMs: number, favourite: number): void
  /** The player has been rated, also by this match. */
  rated(player: Noted): void
  figures(): RatingFigures
}

/** Matches after which ratings are compared with skill. */
const CHECKPOINTS = [1, 2, 3, 5, 10, 20, 30, 50, 100]
/** Names of experience, and the matches from which they hold. */
const EXPERIENCES = [
  ['first 5', 0],
  ['5–9', 5],
  ['10–29', 10],
  ['from 30', 30],
] as const
const BEFORE = 'rated before'
const STEP = 0.05

export function createNotes(): Notes {
  let matches = 0
  const predictions = Array.from({ length: 10 }, () => ({ matches: 0, predicted: 0, won: 0 }))
  const compared = new Map<number, (readonly [mu: number, skill: number])[]>(CHECKPOINTS.map((count) => [count, []]))
  const experiences = new Map(
    [...EXPERIENCES.map(([name]) => name), BEFORE].map((name) => [
      name,
      { waits: [] as number[], favourites: [] as number[] },
    ]),
  )
  const experienceOf = ({ isNew, matches: played }: Noted) => {
    const name = isNew ? EXPERIENCES.findLast(([, from]) => from <= played)?.[0] : BEFORE
    return experiences.get(name ?? BEFORE)
  }

  return {
    matched: (predicted) => {
      matches += 1
      if (predicted === undefined) return
      const favourite = Math.max(predicted, 1 - predicted)
      const at = predictions[Math.min(predictions.length - 1, Math.floor((favourite - 0.5) / STEP))]
      if (at === undefined) return
      at.matches += 1
      at.predicted += favourite
      // Of equals, either is half a favourite.
      at.won += predicted > 0.5 ? 1 : predicted === 0.5 ? 0.5 : 0
    },
    played: (player, waitMs, favourite) => {
      const experience = experienceOf(player)
      experience?.waits.push(waitMs)
      experience?.favourites.push(favourite)
    },
    rated: ({ isNew, matches: played, mu, skill }) => {
      if (isNew) compared.get(played)?.push([mu, skill])
    },
    figures: () => ({
      matches,
      calibration: predictions.flatMap(calibrationOf),
      convergence: [...compared].flatMap(([count, pairs]) => convergenceOf(count, pairs)),
      experience: [...experiences].flatMap(([name, { waits, favourites }]): Experience[] => {
        if (waits.length === 0) return []
        const [waitMs, favourite] = [spreadOf(Float64Array.from(waits), 0), spreadOf(Float64Array.from(favourites), 4)]
        return [{ name, players: waits.length, waitMs, favourite }]
      }),
    }),
  }
}

type Predictions = Omit<Calibration, 'from'>

function calibrationOf({ matches, predicted, won }: Predictions, step: number): Calibration[] {
  if (matches === 0) return []
  const from = rounded(0.5 + step * STEP, 2)
  return [{ from, matches, predicted: rounded(predicted / matches, 4), won: rounded(won / matches, 4) }]
}

function convergenceOf(matches: number, pairs: readonly (readonly [number, number])[]): Convergence[] {
  if (pairs.length < 2) return []
  const squares = pairs.reduce((sum, [mu, skill]) => sum + (mu - skill) ** 2, 0)
  return [
    {
      matches,
      players: pairs.length,
      correlation: rounded(rankCorrelation(pairs), 4),
      error: rounded(Math.sqrt(squares / pairs.length), 3),
    },
  ]
}
