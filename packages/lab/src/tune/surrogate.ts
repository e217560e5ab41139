// pure: estimates a function's values between the points where it is known
import type { Random } from '@muster/core/clock'
import { meanAndDeviation, normal } from '../statistics/index.js'
import { inside } from './schedule.js'
import type { Point, TuningProblem, TriedCandidate } from './space.js'

/** The length scales and the shares of noise from which the most likely are chosen. */
const LENGTHS = [0.4, 0.8, 1.6, 3.2]
const NOISES = [1e-4, 1e-2]

/**
 * Fits a Gaussian process with the Matérn 5/2 kernel to the values (Rasmussen and Williams 2006, algorithm 2.1). Its
 * length scale and noise are the most likely ones of a few. Returns a function that returns the estimate at a point,
 * and the standard deviation of the estimate.
 */
export function surrogateOf(points: readonly Point[], values: readonly number[]) {
  const { mean: middle, deviation } = meanAndDeviation(values)
  const spread = deviation || 1
  const targets = values.map((value) => (value - middle) / spread)
  const fits = LENGTHS.flatMap((length) => NOISES.map((noise) => fitOf(points, targets, length, noise)))
  const { length, lower, weights } = fits.reduce((best, fit) => (fit.likelihood > best.likelihood ? fit : best))
  return (point: Point) => {
    const near = points.map((other) => alike(point, other, length))
    const solved = solveLower(lower, near)
    const variance = 1 - dot(solved, solved)
    return { mean: middle + spread * dot(near, weights), deviation: spread * Math.sqrt(Math.max(0, variance)) }
  }
}

function fitOf(points: readonly Point[], targets: readonly number[], length: number, noise: number) {
  const lower = cholesky(
    points.map((one, row) =>
      points.slice(0, row + 1).map((other, at) => alike(one, other, length) + (at === row ? noise : 0)),
    ),
  )
  const weights = solveUpper(lower, solveLower(lower, targets))
  const logDeterminant = lower.reduce((sum, row, at) => sum + Math.log(row[at] as number), 0)
  return { length, lower, weights, likelihood: -dot(targets, weights) / 2 - logDeterminant }
}

function alike(one: Point, other: Point, length: number): number {
  let squared = 0
  for (let at = 0; at < one.length; at += 1) squared += ((one[at] as number) - (other[at] as number)) ** 2
  const apart = Math.sqrt(5 * squared) / length
  return (1 + apart + (apart * apart) / 3) * Math.exp(-apart)
}

/**
 * Returns the Cholesky factor: the lower triangle whose product with its transpose is the matrix. Only the matrix's
 * lower triangle is given.
 */
function cholesky(matrix: readonly (readonly number[])[]): number[][] {
  const lower: number[][] = []
  for (const [row, given] of matrix.entries()) {
    const made: number[] = []
    for (let at = 0; at <= row; at += 1) {
      const above = at === row ? made : (lower[at] as number[])
      let sum = given[at] as number
      for (let k = 0; k < at; k += 1) sum -= (made[k] as number) * (above[k] as number)
      made.push(at === row ? Math.sqrt(Math.max(sum, 1e-12)) : sum / (above[at] as number))
    }
    lower.push(made)
  }
  return lower
}

function solveLower(lower: readonly (readonly number[])[], right: readonly number[]): number[] {
  const solved: number[] = []
  for (const [row, given] of lower.entries()) {
    let sum = right[row] as number
    for (let k = 0; k < row; k += 1) sum -= (given[k] as number) * (solved[k] as number)
    solved.push(sum / (given[row] as number))
  }
  return solved
}

function solveUpper(lower: readonly (readonly number[])[], right: readonly number[]): number[] {
  const solved = [...right]
  for (let row = right.length - 1; row >= 0; row -= 1) {
    const given = lower[row] as readonly number[]
    solved[row] = (solved[row] as number) / (given[row] as number)
    for (let k = 0; k < row; k += 1) solved[k] = (solved[k] as number) - (given[k] as number) * (solved[row] as number)
  }
  return solved
}

function dot(one: readonly number[], other: readonly number[]): number {
  let sum = 0
  for (let at = 0; at < one.length; at += 1) sum += (one[at] as number) * (other[at] as number)
  return sum
}

/** Maximum number of known points that an estimate uses: the best ones. */
const MOST_KNOWN = 100
/** Number of points that are estimated for each one that is returned. */
const GUESSED = 60
/** Distances from the best points at which random points are drawn. */
const REACHES = [0.02, 0.06, 0.2]
/**
 * Standard deviations by which a point is assumed to be better than estimated, so that uncertain points are tried too.
 */
const HOPES = [0, 0.5, 1, 2]
/** Minimum distance between points that are tried together, so that they are not almost equal. */
const TOO_NEAR = 0.02

/**
 * Returns the most promising points, by a surrogate of each output. They are chosen with different degrees of optimism.
 */
export function promisingPoints<Result>(
  { axes, outputsOf, score }: TuningProblem<Result>,
  once: readonly TriedCandidate<Result>[],
  count: number,
  random: Random,
): Point[] {
  const known = once.slice(0, MOST_KNOWN)
  const outputs = known.map(({ results }) => outputsOf(results[0] as Result))
  const surrogates = (outputs[0] ?? []).map((_, at) =>
    surrogateOf(
      known.map(({ point }) => point),
      outputs.map((one) => one[at] as number),
    ),
  )
  const guessed = Array.from({ length: count * GUESSED }, () => nearTo(known, axes, random)).map((point) => ({
    point,
    guesses: surrogates.map((guess) => guess(point)),
  }))
  const chosen: Point[] = []
  for (let nth = 0; nth < count; nth += 1) {
    const hope = HOPES[nth % HOPES.length] as number
    const free = guessed.filter(({ point }) => chosen.every((other) => distance(point, other) >= TOO_NEAR))
    const scores = free.map(({ guesses }) => score([guesses.map(({ mean, deviation }) => mean - hope * deviation)]))
    const best = free[scores.indexOf(Math.min(...scores))]
    if (best !== undefined) chosen.push(best.point)
  }
  return chosen
}

/** Draws a random point near one of the best. */
function nearTo<Result>(known: readonly TriedCandidate<Result>[], axes: number, random: Random): Point {
  const from = known[Math.floor(random() ** 2 * Math.min(8, known.length))] as TriedCandidate<Result>
  const reach = REACHES[Math.floor(random() * REACHES.length)] as number
  const often = Math.max(1 / axes, random())
  const sure = Math.floor(random() * axes)
  return from.point.map((value, at) =>
    at === sure || random() < often ? inside(value + normal(random) * reach) : value,
  )
}

const distance = (one: Point, other: Point) => Math.hypot(...one.map((value, at) => value - (other[at] as number)))
