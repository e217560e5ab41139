import { quantity } from '../compare/quantities.js'
import { brokenBy, meanOf, type Broken, type Measured, type PromiseName } from './promises.js'
import type { Tuned } from './tuned.js'
import { verdictOf, type Verdict } from './verdict.js'
import { promiseWords } from './words.js'

/** A few sentences: whether the promises can be kept, what that costs or gains, and how sure that is. */
export function sentencesOf<M extends Measured>(tuned: Tuned<M>): string[] {
  const verdict = verdictOf(tuned)
  if (!tuned.possible) return impossible(tuned)
  if (tuned.ownIsBest)
    return [`The file's own schedule is the best that was found: nothing should change.`, ...kept(tuned, verdict)]
  return [...kept(tuned, verdict), quality(tuned, verdict), ...overfit(verdict)]
}

const PROMISES: Readonly<Record<PromiseName, (value: string) => string>> = {
  waitP90Ms: (value) => `90 % of the matched find their match within ${value}`,
  gaveUp: (value) => `${value} wait in vain`,
}

const saysBroken = ({ promise, promised, measured }: Broken): string => {
  const over = measured === Infinity || promised === 0 ? '' : `, ${quantity(measured / promised - 1, 'share')} too much`
  return `${PROMISES[promise](promiseWords(promise, measured))} instead of ${promiseWords(promise, promised)}${over}`
}

const saysAll = (broken: readonly Broken[]) => broken.map(saysBroken).join(', and ')

function impossible<M extends Measured>({ best, loosest, promises, tried }: Tuned<M>): string[] {
  const { waitP90Ms, gaveUp } = worstOf(loosest)
  const shortest = PROMISES.waitP90Ms(promiseWords('waitP90Ms', waitP90Ms))
  const least = PROMISES.gaveUp(promiseWords('gaveUp', gaveUp))
  return [
    `No schedule keeps the promises: of ${tried} that met all training seeds, even the nearest breaks them.`,
    `With it, ${saysAll(brokenBy(worstOf(best.training), promises))} (worst training seed).`,
    `With every limit at its loosest from the start on, ${shortest}, and ${least}.`,
  ]
}

const worstOf = (runs: readonly Measured[]): Measured => ({
  cost: meanOf(runs, 'cost'),
  waitP90Ms: Math.max(...runs.map(({ waitP90Ms }) => waitP90Ms)),
  gaveUp: Math.max(...runs.map(({ gaveUp }) => gaveUp)),
})

function kept<M extends Measured>({ best, promises, unseenSeeds }: Tuned<M>, { broken, keeping }: Verdict): string[] {
  const facts = (['waitP90Ms', 'gaveUp'] as const).map((promise) => {
    const [mean, promised] = [meanOf(best.unseen, promise), promises[promise] ?? Infinity]
    return `${PROMISES[promise](promiseWords(promise, mean))} (promised ${promiseWords(promise, promised)})`
  })
  const where = `on ${keeping} of ${unseenSeeds.length} unseen seeds`
  if (broken.length === 0) return [`It keeps the promises ${where}, and on average: ${facts.join(', and ')}.`]
  return [
    `It keeps the promises on the training seeds, but not on average of the unseen: ${saysAll(broken)}.`,
    `It keeps them ${where}: promise a little more than you need, or train on more seeds.`,
  ]
}

function quality<M extends Measured>({ own, best }: Tuned<M>, { is, unseen, interval, ownBroken }: Verdict): string {
  const [before, after] = [meanOf(own.unseen, 'cost'), meanOf(best.unseen, 'cost')]
  const costs = `Its matches cost ${quantity(after, 'skill')} instead of ${quantity(before, 'skill')}`
  const sure = interval === undefined ? '' : ` (95 % sure: ${percent(interval.low)} to ${percent(interval.high)})`
  if (is === 'unclear') return `${costs}, and the data cannot tell whether that is more than chance${sure}.`
  const price = ownBroken.length === 0 ? '' : `; the file's own schedule breaks the promises: ${saysAll(ownBroken)}`
  return `${costs}, ${percent(unseen)}${sure}${price}.`
}

/** Share of a gain that is left where it is called no accident. */
const LASTING = 0.75

function overfit({ trained, unseen, isOverfit, is }: Verdict): string[] {
  if (!(trained < 0)) return []
  const both = `On the training seeds it was ${percent(trained)}, on the unseen ${percent(unseen)}`
  if (isOverfit)
    return [`${both}: it fits the training seeds rather than the queue. Train on more seeds or a longer crowd.`]
  if (is !== 'better') return []
  return [unseen > trained * LASTING ? `${both}: the rest was theirs alone.` : `${both}: it is no accident of those.`]
}

/** `−19.2 %`, `+3.0 %`. */
const percent = (change: number): string => `${change > 0 ? '+' : ''}${quantity(change, 'share')}`
