// pure: points that are likely better than those that were tried
import type { Random } from '@muster/core/clock'
import { normal } from '../statistics/normal.js'
import type { Problem, Tried } from './problem.js'
import { inside } from './schedule.js'
import type { Point } from './space.js'
import { surrogateOf } from './surrogate.js'

/** Points that a guess is made from: the best. */
const MOST_KNOWN = 100
/** Points that are guessed at, for each that is wanted. */
const GUESSED = 60
/** Distances from the best points at which better ones are looked for. */
const REACHES = [0.02, 0.06, 0.2]
/** How many standard deviations better than guessed a point may be: what is little known is tried too. */
const HOPES = [0, 0.5, 1, 2]
/** Points nearer than this are not tried together. */
const TOO_NEAR = 0.02

/** The points that a surrogate of each output calls best, by different degrees of hope. */
export function promisingPoints<Result>(
  { axes, outputsOf, score }: Problem<Result>,
  once: readonly Tried<Result>[],
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

/** A point by chance near one of the best. */
function nearTo<Result>(known: readonly Tried<Result>[], axes: number, random: Random): Point {
  const from = known[Math.floor(random() ** 2 * Math.min(8, known.length))] as Tried<Result>
  const reach = REACHES[Math.floor(random() * REACHES.length)] as number
  const often = Math.max(1 / axes, random())
  const sure = Math.floor(random() * axes)
  return from.point.map((value, at) =>
    at === sure || random() < often ? inside(value + normal(random) * reach) : value,
  )
}

const distance = (one: Point, other: Point) => Math.hypot(...one.map((value, at) => value - (other[at] as number)))
