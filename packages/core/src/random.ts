/** A source of randomness: like `Math.random`, a number from 0 (inclusive) to 1 (exclusive). */
export type Random = () => number

/** The machine's source of randomness. Not for secrets. */
export const systemRandom: Random = () => Math.random()

/**
 * A source that repeats the same sequence for the same seed (mulberry32). For tests, demos and simulations; not for
 * secrets.
 */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
