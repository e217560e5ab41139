import { InvalidInput } from '@muster/core'
import { z } from 'zod'
import { read } from '@muster/core/validation'

/** How ratings are kept in a run. All have defaults. */
export interface RatingOptions {
  /** Seed of luck and of who is new. Default 1. */
  readonly seed?: number | undefined
  /**
   * The share of players who are new when the run begins, from 0 to 1: they have the default rating, mu 25 and sigma
   * 25/3. The others have been rated before. Default 0.1 (our choice).
   */
  readonly newcomers?: number | undefined
  /**
   * How far new players are below the average in true skill, in standard deviations of skill: up to 0.7. The others are
   * so much better that the crowd stays as it is. Default 0; above it, `newcomers` is 0.5 at most.
   */
  readonly newcomersBelow?: number | undefined
  /**
   * Uncertainty of those who have been rated before, as a standard deviation: their mu differs from their true skill by
   * so much. Default 2: players of some hundred matches (our choice).
   */
  readonly settledSigma?: number | undefined
  /**
   * Standard deviations by which the attribute `rating` stays below mu. Default 3, as of openskill's `ordinal`: the
   * true skill is higher with a probability of 99.9 %.
   */
  readonly deviations?: number | undefined
}

/** How much a player's performance varies from match to match: openskill's default of `beta`, half of its sigma. */
export const BETA = 25 / 6

const schema = z
  .strictObject({
    seed: z.int().default(1),
    newcomers: z.number().min(0).max(1).default(0.1),
    newcomersBelow: z.number().min(0).max(0.7).default(0),
    settledSigma: z.number().positive().max(25).default(2),
    deviations: z.number().min(0).max(10).default(3),
  })
  .refine(({ newcomers, newcomersBelow }) => newcomersBelow === 0 || newcomers <= 0.5, {
    path: ['newcomersBelow'],
    error: 'must be 0 where more than half of the players are new',
  })

/** @throws {InvalidInput} naming the option and the value */
export const readRatingOptions = (options: RatingOptions): z.infer<typeof schema> =>
  read(schema, options, (field, message) => new InvalidInput(`ratings: ${message}`, { field }))
