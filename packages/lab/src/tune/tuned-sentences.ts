import type { TimedLimit } from '@muster/matchmaker/internal'
import { quantity } from '../compare/index.js'
import type { Change } from './limits.js'
import { type Broken, brokenBy, type FrontPoint, meanOf, type Measured, type PromiseName } from './promises.js'
import type { QualityPart } from './quality.js'
import type { TunedCrowd } from './tune-crowd.js'
import { type Tested, type Tuned, type UnseenVerdict, verdictOf } from './tuning-result.js'

/**
 * Formats a limit like `50, 100 after 10 s, no limit after 30 s` or `500 to 2000 over 60 s`. @param isWait true for a
 * wait in ms.
 */
function relaxingWords(relaxing: TimedLimit, isWait = false): string {
  const number = (value: number) => (value === Infinity ? 'no limit' : isWait ? quantity(value, 'ms') : String(value))
  const time = (ms: number) => quantity(ms, 'ms')
  if (typeof relaxing === 'number') return number(relaxing)
  if ('from' in relaxing) {
    const { from, to, startMs = 0, overMs } = relaxing
    const when = startMs === 0 ? `over ${time(overMs)}` : `from ${time(startMs)} to ${time(startMs + overMs)}`
    return `${number(from)} to ${number(to)} ${when}`
  }
  return relaxing
    .map(({ afterMs, value }) => (afterMs === 0 ? number(value) : `${number(value)} after ${time(afterMs)}`))
    .join(', ')
}

/**
 * Formats the value of a promise like `29.5 s`, `3 min 5 s` or `5.0 %`. It is precise, because fractions of a second
 * decide whether a promise is kept.
 */
function promiseWords(promise: PromiseName, value: number): string {
  if (value === Infinity) return 'never'
  if (promise === 'gaveUp') return quantity(value, 'share')
  return value < 1000 || value >= 120_000 ? quantity(value, 'ms') : `${Number((value / 1000).toFixed(1))} s`
}

const MEASURES: Readonly<Record<QualityPart['what'], string>> = {
  distanceKm: 'km to the middle of the match',
  latencyMs: 'ms to the best beacon',
  skillSpread: 'skill spread in the match',
  teamGap: 'gap between the teams',
  favourite: "the favourite's chance above 50 %",
  limit: 'the limit in force',
}

/** Names a part of the cost, like `skill spread in the match / 50`. */
const partWords = ({ name, what, per }: QualityPart): string =>
  `${MEASURES[what]}${what === 'limit' ? ` of ${name}` : ''} / ${per}`

/** Returns a sentence for each changed limit. */
export const changeSentences = ({ changes }: { readonly changes: readonly Change[] }): string[] =>
  changes.map(({ name, isWait, was, is }) => {
    const [before, after] = [relaxingWords(was, isWait), relaxingWords(is, isWait)]
    return before === after ? `${name} stays ${before}.` : `${name}: ${after}; it was ${before}.`
  })

/** Returns a few sentences: whether the promises can be kept, what that costs or gains, and how certain that is. */
export function sentencesOf<M extends Measured>(tuned: Tuned<M>): string[] {
  const verdict = verdictOf(tuned)
  if (!tuned.possible) return impossible(tuned)
  if (tuned.ownIsBest)
    return [`The file's own schedule is the best that was found: nothing should change.`, ...kept(tuned, verdict)]
  return [...kept(tuned, verdict), gainOf(tuned, verdict), ...overfit(verdict)]
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
    `No schedule keeps the promises: of ${tried} that ran with all training seeds, even the best one breaks them.`,
    `With it, ${saysAll(brokenBy(worstOf(best.training), promises))} (worst training seed).`,
    `With every limit at its loosest from the start on, ${shortest}, and ${least}.`,
  ]
}

const worstOf = (runs: readonly Measured[]): Measured => ({
  cost: meanOf(runs, 'cost'),
  waitP90Ms: Math.max(...runs.map(({ waitP90Ms }) => waitP90Ms)),
  gaveUp: Math.max(...runs.map(({ gaveUp }) => gaveUp)),
})

function kept<M extends Measured>(
  { best, promises, unseenSeeds }: Tuned<M>,
  { broken, keeping }: UnseenVerdict,
): string[] {
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

function gainOf<M extends Measured>(
  { own, best }: Tuned<M>,
  { is, unseen, interval, ownBroken }: UnseenVerdict,
): string {
  const [before, after] = [meanOf(own.unseen, 'cost'), meanOf(best.unseen, 'cost')]
  const costs = `Its matches cost ${quantity(after, 'skill')} instead of ${quantity(before, 'skill')}`
  const sure = interval === undefined ? '' : ` (95 % sure: ${percent(interval.low)} to ${percent(interval.high)})`
  if (is === 'unclear') return `${costs}, and the data cannot tell whether that is more than chance${sure}.`
  const price = ownBroken.length === 0 ? '' : `; the file's own schedule breaks the promises: ${saysAll(ownBroken)}`
  return `${costs}, ${percent(unseen)}${sure}${price}.`
}

/** Share of a gain that must remain on unseen seeds. If less remains, the gain counts as chance. */
const LASTING = 0.75

function overfit({ trained, unseen, isOverfit, is }: UnseenVerdict): string[] {
  if (!(trained < 0)) return []
  const both = `On the training seeds it was ${percent(trained)}, on the unseen ${percent(unseen)}`
  if (isOverfit)
    return [`${both}: it fits the training seeds rather than the queue. Train on more seeds or a longer crowd.`]
  if (is !== 'better') return []
  return [
    unseen > trained * LASTING
      ? `${both}: a part of the gain holds for the training seeds only.`
      : `${both}: the gain holds for other seeds too.`,
  ]
}

/** Formats a change like `−19.2 %` or `+3.0 %`. */
const percent = (change: number): string => `${change > 0 ? '+' : ''}${quantity(change, 'share')}`

/** Maximum number of points of the front that are shown. */
const MOST_POINTS = 12

/** Returns all numbers of the result, in tables. @param file the name of the queue's file. */
export function tunedTables(tuned: TunedCrowd, file: string): string {
  const { queue, leftAlone, quality, runs, tried } = tuned
  const parts = [
    `${queue.name} of ${file}: ${Math.round(runs)} runs, ${tried} schedules on all training seeds`,
    changed(tuned, file),
    tested(tuned, file),
    `match cost: ${quality.map(partWords).join(' + ')}`,
    `What can be had, on the training seeds:\n${frontTable(tuned.front)}`,
    leftAlone.length === 0 ? '' : `Left alone: ${leftAlone.map(({ name, why }) => `${name} (${why})`).join('; ')}.`,
  ]
  return parts.filter((part) => part !== '').join('\n\n')
}

function changed({ changes, possible, ownIsBest }: Tuned<Measured>, file: string): string {
  const words = changes.map(({ name, isWait, was, is }) => [
    name,
    relaxingWords(was, isWait),
    relaxingWords(is, isWait),
  ])
  const head = possible ? 'tuned' : 'nearest'
  return ownIsBest
    ? columns([['limit', `${file}, the best`], ...words.map((row) => row.slice(0, 2))])
    : columns([['limit', file, head], ...words])
}

function tested({ own, best, ownIsBest, trainingSeeds, unseenSeeds, possible }: Tuned<Measured>, file: string): string {
  const rows = (runs: keyof Tested<Measured>, name: string) => {
    const row = (of: Tested<Measured>, called: string) => [name, called, ...valuesOf(of[runs])]
    return [row(own, file), ...(ownIsBest ? [] : [row(best, possible ? 'tuned' : 'nearest')])]
  }
  return columns([
    ['seeds', 'schedule', 'match cost', '90 % within', 'in vain'],
    ...rows('training', `training (${rangeOf(trainingSeeds)})`),
    ...rows('unseen', `unseen (${rangeOf(unseenSeeds)})`),
  ])
}

const valuesOf = (runs: readonly Measured[]): string[] => [
  quantity(meanOf(runs, 'cost'), 'skill'),
  promiseWords('waitP90Ms', meanOf(runs, 'waitP90Ms')),
  promiseWords('gaveUp', meanOf(runs, 'gaveUp')),
]

const rangeOf = (seeds: readonly number[]) =>
  seeds.length < 3 ? seeds.join(', ') : `${Math.min(...seeds)} to ${Math.max(...seeds)}`

/** Returns the front as a table. Of a long front, only the marked points and some in between are shown. */
function frontTable(front: readonly FrontPoint[]): string {
  const every = Math.max(1, Math.ceil(front.length / MOST_POINTS))
  const shown = front.filter(({ is }, index) => is !== undefined || index % every === 0)
  const rows = shown.map(({ is, keeps, ...point }) => {
    const mark = is === 'best' ? 'chosen' : is === 'own' ? 'as it is' : ''
    return [...valuesOf([point]), keeps ? 'keeps the promises' : '', mark]
  })
  return columns([['match cost', '90 % within', 'in vain', '', ''], ...rows])
}

/** Returns a table with aligned columns. */
function columns(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)))
  const line = (row: readonly string[]) => row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join('   ')
  return rows.map((row) => line(row).trimEnd()).join('\n')
}
