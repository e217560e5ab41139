import { seededRandom } from '@muster/core/clock'
import { defineQueue, InvalidQueue, type Queue } from '@muster/matchmaker'
import { type Change, withChanges } from './limits.js'
import {
  aimedAt,
  allKeep,
  frontOf,
  type FrontPoint,
  logsOf,
  meanOf,
  type Measured,
  pointOf,
  type Promises,
  scoreOf,
  shortfallOf,
} from './promises.js'
import { NotTunable, searchedIn } from './limit-search.js'
import {
  createSpace,
  createTrials,
  type Effort,
  latinHypercube,
  type Point,
  type TuningProblem,
  type Space,
  type TuningTrials,
  type TriedCandidate,
} from './space.js'
import { promisingPoints } from './surrogate.js'
import type { Tested, Tuned, TuneOptions } from './tuning-result.js'

/** Share of the crowd over which the many candidates of the first round run. */
const SHORT = 0.25
/** Share of the budget that the initial rounds use. */
const BEGINNING = 0.4
/** One in this number of candidates enters the next initial round. */
const ONE_IN = 3
/** Number of candidates in a generation of the refinement, and how many of them are run with all seeds. */
const GENERATION = 8
const GROWN = 2
/** Number of consecutive generations without a new candidate after which the refinement ends. */
const MOST_STALE = 4

/**
 * Searches by successive halving (Jamieson and Talwalkar 2016), then by a surrogate. First, many candidates run over a
 * part of the crowd, a third of them over the whole crowd, and a ninth with all seeds. Then the surrogate proposes
 * generations of candidates. They run with one seed, and the best of them with all. Returns the candidates that ran
 * with all seeds, the best first.
 */
export async function search<Result>(problem: TuningProblem<Result>): Promise<TriedCandidate<Result>[]> {
  const { trials, starts, axes, seeds, spare } = problem
  const random = seededRandom(problem.seed)
  const [firstSeed, allSeeds]: [Effort, Effort] = [
    { seeds: 1, share: 1 },
    { seeds, share: 1 },
  ]
  const costOfEach = SHORT + 1 / ONE_IN + (seeds - 1) / ONE_IN ** 2
  const count = Math.max(starts.length, Math.floor(((trials.left() - spare) * BEGINNING) / costOfEach))
  const begun = [...starts, ...latinHypercube(count - starts.length, axes, random)]
  const short = await scored(problem, begun, { seeds: 1, share: SHORT })
  let once = await scored(problem, bestPoints(short, count / ONE_IN), firstSeed)
  let tried = await scored(problem, bestPoints(once, Math.max(GROWN, count / ONE_IN ** 2)), allSeeds)

  const most = GENERATION + (seeds - 1) * GROWN
  for (let stale = 0; stale < MOST_STALE && trials.left() - spare >= most;) {
    const top = tried[0] as TriedCandidate<Result>
    const sure = problem.improvements(top.point, top.results).slice(0, GROWN)
    const points = [...sure, ...promisingPoints(problem, once, GENERATION - sure.length, random)]
    stale = trials.costOf(points, firstSeed) === 0 ? stale + 1 : 0
    const first = await scored(problem, points, firstSeed)
    tried = distinct([...tried, ...(await scored(problem, bestPoints(first, GROWN), allSeeds))])
    once = distinct([...once, ...first])
  }
  return tried
}

/** Runs candidates, and returns them sorted, the best first. */
async function scored<Result>(problem: TuningProblem<Result>, points: readonly Point[], effort: Effort) {
  const results = await problem.trials.run(points, effort)
  return distinct(
    points.map((point, index): TriedCandidate<Result> => {
      const of = results[index] as readonly Result[]
      return { point, results: of, score: problem.score(of.map(problem.outputsOf)) }
    }),
  )
}

/** Sorts candidates, the best first. Candidates that are equal after rounding have the same results, and are merged. */
function distinct<Result>(tried: readonly TriedCandidate<Result>[]): TriedCandidate<Result>[] {
  const seen = new Set<Result | undefined>()
  const first = tried.filter(({ results }) => !seen.has(results[0]) && seen.add(results[0]))
  return first.toSorted((one, other) => one.score - other.score)
}

const bestPoints = <Result>(tried: readonly TriedCandidate<Result>[], count: number): Point[] =>
  tried.slice(0, Math.max(1, Math.floor(count))).map(({ point }) => point)

/** Minimum improvement over the file's own schedule for which the file is changed: 1 %. */
const WORTH_IT = 0.01

/**
 * Returns the schedule of minimum cost that keeps the promises with a margin. If there is none, the margin is dropped.
 * If no schedule keeps the promises, returns the one that comes nearest.
 */
function chosenOf<M extends Measured>(tried: readonly TriedCandidate<M>[], promises: Promises): TriedCandidate<M> {
  const keeping = (wanted: Promises) => tried.filter(({ results }) => allKeep(results, wanted))
  const withMargin = keeping(aimedAt(promises))
  const kept = withMargin.length > 0 ? withMargin : keeping(promises)
  const all = kept.length > 0 ? kept : tried
  const costOf = ({ results }: TriedCandidate<M>) =>
    kept.length > 0 ? meanOf(results, 'cost') : shortfallOf(results.map(logsOf), promises)
  return all.reduce((best, one) => (costOf(one) < costOf(best) ? one : best))
}

/**
 * Returns true if the file should stay unchanged, because its own schedule is at least nearly as good as the chosen
 * one.
 */
function isOwnBest(own: readonly Measured[], chosen: readonly Measured[], promises: Promises): boolean {
  const [ownKeeps, chosenKeeps] = [allKeep(own, promises), allKeep(chosen, promises)]
  if (ownKeeps !== chosenKeeps) return ownKeeps
  return ownKeeps
    ? meanOf(chosen, 'cost') > meanOf(own, 'cost') * (1 - WORTH_IT)
    : shortfallOf(own.map(logsOf), promises) <= shortfallOf(chosen.map(logsOf), promises)
}

/**
 * Factors by which the best schedule is made looser or stricter, so that the front also shows waits beyond the promise.
 */
const STRICTER = [0.4, 0.6, 0.8, 1.3, 1.8, 2.5]
/** Minimum number of full runs for the search itself, without the first and the last runs. */
const FEWEST = 12

type Seeds = Pick<Tuned<Measured>, 'trainingSeeds' | 'unseenSeeds'>

/** Returns the number of full runs at the end, for the front. */
const runsForFront = ({ trainingSeeds }: Seeds) => (STRICTER.length + 1) * trainingSeeds.length

/** Returns the number of full runs that compare the result with the file's own schedule. */
const runsToCompare = ({ trainingSeeds, unseenSeeds }: Seeds) => trainingSeeds.length + 2 * unseenSeeds.length

/** Returns the minimum number of full runs of a whole search. */
export const fewestRuns = (seeds: Seeds): number =>
  FEWEST + 2 * seeds.trainingSeeds.length + runsForFront(seeds) + runsToCompare(seeds)

/**
 * Searches the schedules of a queue for the best quality that keeps the promises. The numbers of each candidate are
 * rounded before its run, so that the reported figures are those of the written file.
 * @throws {NotTunable} if there is nothing to search, bounds are impossible, or the budget is too small.
 */
export async function tuneQueue<M extends Measured>(options: TuneOptions<M>): Promise<Tuned<M>> {
  const { queue, trainingSeeds, unseenSeeds } = options
  const fewest = fewestRuns(options)
  if (!(options.budget >= fewest))
    throw new NotTunable(`budget: must be at least ${fewest} runs for this number of seeds, got ${options.budget}`)
  const searched = searchedIn(queue, { ...options, waitP90Ms: options.promises.waitP90Ms })
  const space = createSpace(searched)
  checkEnds(queue, space)
  const own = await options.measure(trainingSeeds.map((seed) => ({ queue, seed, share: 1 })))
  const promises = promisesOf(options.promises, own)
  const { trials, tried, loosest, others } = await searchedThrough({ ...options, promises }, space)
  const chosen = chosenOf(tried, promises)
  const ownIsBest = isOwnBest(own, chosen.results, promises)
  const changes = space.changesAt(chosen.point).map((change) => (ownIsBest ? { ...change, is: change.was } : change))
  const result = ownIsBest ? queue : queueWith(queue, changes)
  const unseen = await unseenRuns(options, ownIsBest ? [queue] : [queue, result])
  const ofOwn: Tested<M> = { training: own, unseen: unseen[0] ?? [] }
  const ofBest = ownIsBest ? ofOwn : { training: chosen.results, unseen: unseen[1] ?? [] }
  const runs = trials.spent() + own.length + unseen.length * unseenSeeds.length
  return {
    promises,
    trainingSeeds,
    unseenSeeds,
    changes,
    leftAlone: searched.leftAlone,
    queue: result,
    possible: pointOf(ofBest.training, promises).keeps,
    ownIsBest,
    own: ofOwn,
    best: ofBest,
    loosest,
    front: frontFrom(own, ofBest.training, [...tried.map(({ results }) => results), ...others, loosest], promises),
    tried: tried.length,
    runs: Math.round(runs * 100) / 100,
  }
}

/**
 * Completes the promises with the file's own figures. Otherwise the search would improve matches at the expense of a
 * figure that is not promised.
 */
const promisesOf = ({ waitP90Ms, gaveUp }: Promises, own: readonly Measured[]): Required<Promises> => ({
  waitP90Ms: waitP90Ms ?? Math.max(...own.map((run) => run.waitP90Ms)),
  gaveUp: gaveUp ?? Math.max(...own.map((run) => run.gaveUp)),
})

/**
 * Checks that the queue is valid with its limits at both ends of their bounds. @throws {NotTunable} if not, e.g. for a
 * distance of 0
 */
function checkEnds(queue: Queue, space: Space): void {
  for (const start of [0, 1]) {
    try {
      queueWith(queue, space.changesAt(space.withStart(space.own, start)))
    } catch (error) {
      if (!(error instanceof InvalidQueue)) throw error
      throw new NotTunable(`bounds: ${error.message}`)
    }
  }
}

const queueWith = (queue: Queue, changes: readonly Change[]): Queue => defineQueue(withChanges(queue, changes))

async function searchedThrough<M extends Measured>(options: TuneOptions<M>, space: Space) {
  const { trainingSeeds, seed = 1 } = options
  const promises = aimedAt(options.promises)
  const trials = trialsOf(options, space)
  const tried = await search<M>({
    axes: space.axes,
    starts: startsOf(space),
    trials,
    outputsOf: logsOf,
    score: (logs) => scoreOf(logs, promises),
    improvements: (point, runs) => improvementsOf(space, promises, point, runs),
    seeds: trainingSeeds.length,
    seed,
    spare: runsForFront(options),
  })
  const top = chosenOf(tried, options.promises).point
  const points = [space.withStart(space.own, 1), ...STRICTER.map((factor) => space.stricter(top, factor))]
  const [loosest = [], ...others] = await trials.run(points, { seeds: trainingSeeds.length, share: 1 })
  // The loosest schedule is added, because the rounds may have dropped it.
  const ofLoosest = { point: points[0] as Point, results: loosest, score: Infinity }
  return { trials, tried: [...tried, ofLoosest], loosest, others }
}

function trialsOf<M extends Measured>(options: TuneOptions<M>, space: Space): TuningTrials<M> {
  const { queue, trainingSeeds, measure, budget } = options
  return createTrials({
    evaluate: (trials) =>
      measure(
        trials.map(({ point, seed, share }) => ({
          queue: queueWith(queue, space.changesAt(point)),
          seed: trainingSeeds[seed] as number,
          share,
        })),
      ),
    keyOf: (point) => JSON.stringify(space.changesAt(point).map(({ is }) => is)),
    budget: budget - runsToCompare(options),
  })
}

/**
 * Returns the candidates that are always tried: the file's own schedule, and sooner, later, looser and stricter ones.
 */
const startsOf = (space: Space): Point[] => [
  space.own,
  ...[0.25, 0.5, 2, 4].map((factor) => space.retimed(space.own, factor)),
  ...[0.3, 0.6, 1].map((start) => space.withStart(space.own, start)),
]

/**
 * Returns candidates with other times, if waits are longer or shorter than promised. Waits change about in proportion
 * to the times.
 */
function improvementsOf(space: Space, { waitP90Ms }: Promises, point: Point, runs: readonly Measured[]): Point[] {
  const worst = Math.max(...runs.map((run) => run.waitP90Ms))
  if (waitP90Ms === undefined || worst === Infinity) return [space.retimed(point, 0.6)]
  const factor = Math.min(3, Math.max(0.3, waitP90Ms / Math.max(worst, 1)))
  return [space.retimed(point, factor), space.stricter(point, Math.sqrt(factor))]
}

/** Runs each queue with the unseen seeds, and returns the results of each queue. */
async function unseenRuns<M extends Measured>({ unseenSeeds, measure }: TuneOptions<M>, queues: readonly Queue[]) {
  const runs = await measure(queues.flatMap((queue) => unseenSeeds.map((seed) => ({ queue, seed, share: 1 }))))
  return queues.map((_, index) => runs.slice(index * unseenSeeds.length, (index + 1) * unseenSeeds.length))
}

function frontFrom(
  own: readonly Measured[],
  best: readonly Measured[],
  tried: readonly (readonly Measured[])[],
  promises: Promises,
): FrontPoint[] {
  const marked = new Set([own, best])
  const others = tried.filter((runs) => !marked.has(runs)).map((runs) => pointOf(runs, promises))
  const ofBest = best === own ? [] : [pointOf(best, promises, 'best')]
  return frontOf([pointOf(own, promises, 'own'), ...ofBest, ...others])
}
