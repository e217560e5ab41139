import { seededRandom, type Random } from '@muster/core/clock'
import { latinHypercube } from './chance.js'
import { promisingPoints } from './promising.js'
import type { Problem, Tried } from './problem.js'
import type { Point } from './space.js'
import type { Effort } from './trials.js'

/** Part of the crowd that the many candidates of the beginning are run on. */
const SHORT = 0.25
/** Part of the budget for the beginning. */
const BEGINNING = 0.4
/** Of each round of the beginning, one in so many goes on to the next. */
const ONE_IN = 3
/** Candidates of a generation of the refinement, of which so many meet all seeds. */
const GENERATION = 8
const GROWN = 2
/** Generations in a row that may have nothing new before the refinement ends. */
const MOST_STALE = 4

/**
 * Successive halving (Jamieson and Talwalkar 2016), then refinement by a surrogate: many candidates meet a part of the
 * crowd, a third of them the whole, a ninth all seeds; then generations that a guess at the function calls promising
 * meet one seed each, and the best of them all. Returns what met all seeds, the best first.
 */
export async function search<Result>(problem: Problem<Result>): Promise<Tried<Result>[]> {
  const random = seededRandom(problem.seed)
  const begun = await halved(problem, random)
  return refined(problem, begun, random)
}

const full = (seeds: number): Effort => ({ seeds, share: 1 })

interface State<Result> {
  /** On all seeds, the best first. */
  readonly tried: readonly Tried<Result>[]
  /** On the first seed, the best first. */
  readonly once: readonly Tried<Result>[]
}

async function halved<Result>(problem: Problem<Result>, random: Random): Promise<State<Result>> {
  const { trials, starts, axes, seeds } = problem
  const budget = (trials.left() - problem.spare) * BEGINNING
  const costOfEach = SHORT + 1 / ONE_IN + (seeds - 1) / ONE_IN ** 2
  const count = Math.max(starts.length, Math.floor(budget / costOfEach))
  const points = [...starts, ...latinHypercube(count - starts.length, axes, random)]
  const short = await scored(problem, points, { seeds: 1, share: SHORT })
  const once = await scored(problem, best(short, count / ONE_IN), full(1))
  return { once, tried: await scored(problem, best(once, Math.max(GROWN, count / ONE_IN ** 2)), full(seeds)) }
}

async function refined<Result>(problem: Problem<Result>, begun: State<Result>, random: Random) {
  const { trials, seeds, spare } = problem
  const most = GENERATION + (seeds - 1) * GROWN
  let { tried, once } = begun
  for (let stale = 0; stale < MOST_STALE && trials.left() - spare >= most;) {
    const top = tried[0] as Tried<Result>
    const sure = problem.improvements(top.point, top.results).slice(0, GROWN)
    const points = [...sure, ...promisingPoints(problem, once, GENERATION - sure.length, random)]
    stale = trials.costOf(points, full(1)) === 0 ? stale + 1 : 0
    const first = await scored(problem, points, full(1))
    tried = distinct([...tried, ...(await scored(problem, best(first, GROWN), full(seeds)))])
    once = distinct([...once, ...first])
  }
  return [...tried]
}

/** Runs candidates and sorts them, the best first. */
async function scored<Result>(problem: Problem<Result>, points: readonly Point[], effort: Effort) {
  const results = await problem.trials.run(points, effort)
  return distinct(
    points.map((point, index): Tried<Result> => {
      const of = results[index] as readonly Result[]
      return { point, results: of, score: problem.score(of.map(problem.outputsOf)) }
    }),
  )
}

/** Sorted, the best first. Candidates that are the same once rounded have the same results, and are one. */
function distinct<Result>(tried: readonly Tried<Result>[]): Tried<Result>[] {
  const seen = new Set<Result | undefined>()
  const first = tried.filter(({ results }) => !seen.has(results[0]) && seen.add(results[0]))
  return first.toSorted((one, other) => one.score - other.score)
}

const best = <Result>(tried: readonly Tried<Result>[], count: number): Point[] =>
  tried.slice(0, Math.max(1, Math.floor(count))).map(({ point }) => point)
