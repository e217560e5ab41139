import { InvalidInput } from '@muster/core'
import { z } from 'zod'
import type { RatingBook } from '../ratings/rating-book.js'
import { read } from '@muster/core/validation'

export interface RunOptions {
  /** Whole number from 0: another seed makes other ids. Default 1. */
  readonly seed?: number | undefined
  /** Milliseconds between two ticks. Default 250, as of a matchmaker. */
  readonly tickMs?: number | undefined
  /** Milliseconds from create to READY of every server. Default 5000 (our choice). */
  readonly startMs?: number | undefined
  /**
   * Ratings, which decide who wins the matches and follow from it. Default: players have the attributes that the crowd
   * gives them, and nobody wins.
   */
  readonly ratings?: RatingBook | undefined
  /** Ends the run, which then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined
  /** Called now and then with the share of the visits that have ended, from 0 to 1, and with 1 at the end. */
  readonly progressed?: ((share: number) => void) | undefined
}

const isRatingBook = (value: unknown) =>
  typeof value === 'object' &&
  value !== null &&
  ['queued', 'played'].every((name) => typeof Reflect.get(value, name) === 'function')

const schema = z.strictObject({
  seed: z.int().min(0).default(1),
  tickMs: z.int().min(1).max(60_000).default(250),
  startMs: z.int().min(0).max(600_000).default(5000),
  ratings: z.custom<RatingBook>(isRatingBook, 'must have queued and played').optional(),
  signal: z.instanceof(AbortSignal, { error: 'must be an AbortSignal' }).optional(),
  progressed: z
    .custom<(share: number) => void>((value) => typeof value === 'function', 'must be a function')
    .optional(),
})

/** The options with every default filled in. @throws {InvalidInput} naming the option and the value. */
export const readRunOptions = (options: RunOptions): z.infer<typeof schema> =>
  read(schema, options, (field, message) => new InvalidInput(`option ${message}`, { field }))
