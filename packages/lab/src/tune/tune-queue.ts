import { defineQueue, InvalidQueue, type Queue } from '@muster/matchmaker'
import { withChanges, type Change } from './change.js'
import { chosenOf, isOwnBest } from './choice.js'
import { frontOf, pointOf, type FrontPoint } from './front.js'
import { aimedAt, logsOf, scoreOf, type Measured, type Promises } from './promises.js'
import type { Tried } from './problem.js'
import { search } from './search.js'
import { NotTunable, searchedIn } from './searched.js'
import { createSpace, type Point, type Space } from './space.js'
import { createTrials, type Trials } from './trials.js'
import type { Tested, Tuned, TuneOptions } from './tuned.js'

/** The best schedule looser and stricter, for a front that reaches beyond the promise. */
const STRICTER = [0.4, 0.6, 0.8, 1.3, 1.8, 2.5]
/** Fewest whole runs for the search itself. */
const FEWEST = 12

interface Seeds {
  readonly trainingSeeds: readonly number[]
  readonly unseenSeeds: readonly number[]
}

/** Whole runs at the end, for the front. */
const runsForFront = ({ trainingSeeds }: Seeds) => (STRICTER.length + 1) * trainingSeeds.length

/** Whole runs that compare the result with the file's own schedule. */
const runsToCompare = ({ trainingSeeds, unseenSeeds }: Seeds) => trainingSeeds.length + 2 * unseenSeeds.length

/** Fewest whole runs that a search can do with. */
export const fewestRuns = (seeds: Seeds): number =>
  FEWEST + 2 * seeds.trainingSeeds.length + runsForFront(seeds) + runsToCompare(seeds)

/**
 * Searches the schedules of a queue for the best quality that keeps the promises. The numbers of each candidate are
 * rounded before it is run, so what is told is what is written.
 * @throws {NotTunable} if there is nothing to search, bounds cannot be, or the budget is too small.
 */
export async function tuneQueue<M extends Measured>(options: TuneOptions<M>): Promise<Tuned<M>> {
  const { queue, trainingSeeds, unseenSeeds } = options
  const fewest = fewestRuns(options)
  if (!(options.budget >= fewest))
    throw new NotTunable(`budget: must be at least ${fewest} runs for so many seeds, got ${options.budget}`)
  const searched = searchedIn(queue, { ...options, waitP90Ms: options.promises.waitP90Ms })
  const space = createSpace(searched)
  checkEnds(queue, space)
  const own = await options.measure(trainingSeeds.map((seed) => ({ queue, seed, share: 1 })))
  const promises = promisesOf(options.promises, own)
  const { trials, tried, loosest, others } = await searchedThrough({ ...options, promises }, space)
  const chosen = chosenOf(tried, promises)
  const ownIsBest = isOwnBest(own, chosen.results, promises)
  const changes = changesOf(space, chosen.point, ownIsBest)
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

/** What is not promised must not become worse than it is: else better matches would be paid for there. */
const promisesOf = ({ waitP90Ms, gaveUp }: Promises, own: readonly Measured[]): Required<Promises> => ({
  waitP90Ms: waitP90Ms ?? Math.max(...own.map((run) => run.waitP90Ms)),
  gaveUp: gaveUp ?? Math.max(...own.map((run) => run.gaveUp)),
})

/** @throws {NotTunable} if the queue cannot have its limits at the ends of their bounds, e.g. a distance of 0. */
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

const changesOf = (space: Space, point: Point, ownIsBest: boolean): Change[] =>
  space.changesAt(point).map((change) => (ownIsBest ? { ...change, is: change.was } : change))

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
  return { trials, tried: withLoosest(tried, points[0] as Point, loosest), loosest, others }
}

/** The loosest schedule is a candidate even if it did not come through the rounds. */
const withLoosest = <M extends Measured>(tried: readonly Tried<M>[], point: Point, results: readonly M[]) => [
  ...tried,
  { point, results, score: Infinity },
]

function trialsOf<M extends Measured>(options: TuneOptions<M>, space: Space): Trials<M> {
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

/** What is tried in any case: what the file says, sooner and later, looser and stricter. */
const startsOf = (space: Space): Point[] => [
  space.own,
  ...[0.25, 0.5, 2, 4].map((factor) => space.retimed(space.own, factor)),
  ...[0.3, 0.6, 1].map((start) => space.withStart(space.own, start)),
]

/** If a schedule waits longer or shorter than promised, waits change about as its times do. */
function improvementsOf(space: Space, { waitP90Ms }: Promises, point: Point, runs: readonly Measured[]): Point[] {
  const worst = Math.max(...runs.map((run) => run.waitP90Ms))
  if (waitP90Ms === undefined || worst === Infinity) return [space.retimed(point, 0.6)]
  const factor = Math.min(3, Math.max(0.3, waitP90Ms / Math.max(worst, 1)))
  return [space.retimed(point, factor), space.stricter(point, Math.sqrt(factor))]
}

/** Runs of each queue, one for each unseen seed. */
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
