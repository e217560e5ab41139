import { type Random, seededRandom } from '@muster/core/clock'
import { firstIndex } from '../../statistics/index.js'

/** Draws an index at random, by weights. */
export type WeightedChoice = (random: Random) => number

/** Creates a weighted choice. @param weights at least 0, and not all of them 0. */
export function choiceOf(weights: readonly number[]): WeightedChoice {
  const sums: number[] = []
  let sum = 0
  for (const weight of weights) sums.push((sum += weight))
  return (random) => {
    const drawn = random() * sum
    return firstIndex(sums.length - 1, (at) => (sums[at] as number) > drawn)
  }
}

/** Draws a number above 0 and below 1. */
const between = (random: Random) => random() + 2 ** -33

/** Draws a number of the normal distribution with mean 0 and deviation 1. Uses exactly one random number. */
export const normal = (random: Random): number => normalQuantile(between(random))

/** Draws a number whose logarithm is normally distributed. @param spread deviation of the logarithm. */
export const logNormal = (random: Random, median: number, spread: number): number =>
  median * Math.exp(spread * normal(random))

/** Draws a number of the Weibull distribution. With a shape above 1 its hazard grows with time. */
export const weibull = (random: Random, median: number, shape: number): number =>
  median * (-Math.log(between(random)) / Math.LN2) ** (1 / shape)

/**
 * Returns a quantile of the Weibull distribution, restricted to values above `from`.
 * @param share the quantile, from 0 to 1.
 */
export const weibullAfter = (from: number, share: number, median: number, shape: number): number =>
  median * ((from / median) ** shape - Math.log(1 - share) / Math.LN2) ** (1 / shape)

/** Draws a number of the exponential distribution. */
export const exponential = (random: Random, mean: number): number => -Math.log(between(random)) * mean

/** Coefficients of P. J. Acklam's rational approximation of the normal quantile. */
const A = [
  -39.69683028665376, 220.9460984245205, -275.9285104469687, 138.357751867269, -30.66479806614716, 2.506628277459239,
]
const B = [-54.47609879822406, 161.5858368580409, -155.6989798598866, 66.80131188771972, -13.28068155288572, 1]
const C = [
  -0.007784894002430293, -0.3223964580411365, -2.400758277161838, -2.549732539343734, 4.374664141464968,
  2.938163982698783,
]
const D = [0.007784695709041462, 0.3224671290700398, 2.445134137142996, 3.754408661907416, 1]
/** Below this probability, and above one minus it, the tails of the distribution have another approximation. */
const TAIL = 0.02425

/** Returns a quantile of the normal distribution (Acklam's approximation, relative error below 1.2e-9). */
function normalQuantile(probability: number): number {
  if (probability > 1 - TAIL) return -normalQuantile(1 - probability)
  if (probability < TAIL) {
    const q = Math.sqrt(-2 * Math.log(probability))
    return polynomial(C, q) / polynomial(D, q)
  }
  const q = probability - 0.5
  const r = q * q
  return (polynomial(A, r) * q) / polynomial(B, r)
}

/** Evaluates a polynomial by Horner's scheme, with the highest coefficient first. */
const polynomial = (coefficients: readonly number[], x: number): number =>
  coefficients.reduce((sum, coefficient) => sum * x + coefficient, 0)

/** The purposes of random numbers. Each party has its own stream of them for each purpose. */
export type Purpose =
  | 'size'
  | 'arrival'
  | 'city'
  | 'place'
  | 'access'
  | 'jitter'
  | 'skill'
  | 'seen'
  | 'role'
  | 'platform'
  | 'queue'
  | 'patience'
  | 'accept'
  | 'play'
  | 'leave'
  | 'return'
  | 'break'
  | 'copy'
  | 'sample'

/**
 * Returns the random numbers for one purpose and one party, e.g. for the patience of party 17. They depend on nothing
 * else. So another mix of parties, or other latencies, change nobody's patience.
 */
export type Streams = (purpose: Purpose, party: number) => Random

/** Creates the streams of a seed. @param seed whole number from 0 to 2³² − 1. */
export function createStreams(seed: number): Streams {
  const root = mixed(seed ^ 0x9e3779b9)
  const roots = new Map<Purpose, number>()
  const rootOf = (purpose: Purpose) => {
    const known = roots.get(purpose) ?? mixed(root + hashOf(purpose))
    roots.set(purpose, known)
    return known
  }
  return (purpose, party) => seededRandom(mixed(rootOf(purpose) ^ Math.imul(party + 1, 0x85ebca6b)))
}

/** Mixes 32 bits so that each bit of the result depends on all of them (the end of MurmurHash3, public domain). */
function mixed(bits: number): number {
  let hash = bits | 0
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}

/** Returns a number from 0 to 2³² − 1 for a string (FNV-1a). */
export function hashOf(name: string): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < name.length; index += 1) hash = Math.imul(hash ^ name.charCodeAt(index), 0x01000193)
  return hash >>> 0
}
