import type { LabResult, Variant } from '../figures/index.js'
import {
  type Difference,
  differenceOf,
  judge,
  type MeasuredDifference,
  type SliceDifference,
  sliceDifferences,
} from './difference.js'
import { type Measure, MEASURES, quantity, type Topic } from './measures.js'

interface Compared {
  readonly name: string
  readonly first: string
  readonly measures: readonly MeasuredDifference[]
  readonly seeds: number
}

/** The words about each topic for a variant that is better, worse, alike or not comparable. */
const TOPICS: Readonly<Record<Topic, { readonly [Kind in 'better' | 'worse' | 'alike' | 'unclear']: string }>> = {
  matching: {
    better: 'matches more players',
    worse: 'matches fewer players',
    alike: 'the share of players matched',
    unclear: 'which matches more players',
  },
  waiting: {
    better: 'makes players wait less',
    worse: 'makes players wait longer',
    alike: 'how long players wait',
    unclear: 'which makes players wait less',
  },
  quality: {
    better: 'makes better matches',
    worse: 'makes worse matches',
    alike: 'the quality of matches',
    unclear: 'which makes better matches',
  },
  fairness: { better: 'is fairer', worse: 'is less fair', alike: 'fairness', unclear: 'which is fairer' },
  cost: { better: 'costs less', worse: 'costs more', alike: 'cost', unclear: 'which costs less' },
}

/** Returns a few sentences: what is better, what is worse, what does not differ, and what the data cannot show. */
function sentencesOf({ name, first, measures, seeds }: Compared): string[] {
  if (seeds < 2) return [`With one seed, the data cannot tell whether ${name} and ${first} differ by more than chance.`]
  const topics = (Object.keys(TOPICS) as Topic[])
    .map((topic) => ({ topic, verdicts: measures.filter(({ key }) => measureOf(key)?.topic === topic) }))
    .filter(({ verdicts }) => verdicts.length > 0)
  const phrases = (verdict: 'better' | 'worse') =>
    topics.flatMap(({ topic, verdicts }) => phraseOf(topic, verdicts, verdict) ?? [])
  const [better, worse] = [phrases('better'), phrases('worse')]
  const rest = topics.filter(
    ({ verdicts }) => !verdicts.some(({ verdict }) => verdict === 'better' || verdict === 'worse'),
  )
  const isAlike = (verdicts: readonly MeasuredDifference[]) => verdicts.every(({ verdict }) => verdict === 'alike')
  const alike = rest.filter(({ verdicts }) => isAlike(verdicts)).map(({ topic }) => TOPICS[topic].alike)
  const unclear = rest.filter(({ verdicts }) => !isAlike(verdicts)).map(({ topic }) => TOPICS[topic].unclear)
  return [
    ...differences(name, first, better, worse),
    ...undecided({ name, first, seeds }, alike, unclear, topics.length),
  ]
}

function differences(name: string, first: string, better: readonly string[], worse: readonly string[]): string[] {
  const lead = `Compared with ${first}, ${name}`
  if (better.length === 0) return worse.length === 0 ? [] : [`${lead} ${listed(worse)}.`]
  return [`${lead} ${listed(better)}.`, ...(worse.length === 0 ? [] : [`But it ${listed(worse)}.`])]
}

function undecided(
  { name, first, seeds }: Pick<Compared, 'name' | 'first' | 'seeds'>,
  alike: readonly string[],
  unclear: readonly string[],
  topics: number,
): string[] {
  if (alike.length === topics) return [`${name} and ${first} are alike: no difference would be felt.`]
  const none = alike.length === 0 ? [] : [`There is no difference that would be felt in ${listed(alike)}.`]
  if (unclear.length === 0) return none
  const why = seeds < ENOUGH ? few(seeds) : 'they differ by no more than chance'
  return unclear.length === topics
    ? [`The data cannot tell ${name} from ${first}: ${why}.`]
    : [...none, `The data cannot tell ${listed(unclear)}.`]
}

/**
 * Minimum number of seeds for full statements. With fewer seeds, a difference shows only if it is similar with each
 * seed.
 */
const ENOUGH = 5
const few = (seeds: number) => `${seeds} seeds show only what differs much; more seeds tell more`

const measureOf = (key: string) => MEASURES.find((measure) => measure.key === key)

/** Maximum number of facts about a topic in a sentence. The table has all of them. */
const MOST_FACTS = 2

/** Returns the size of a difference relative to the first variant's value. */
const changeOf = ({ first, mean }: MeasuredDifference) => Math.abs(mean) / Math.max(Math.abs(first), 1e-9)

/**
 * Returns a phrase like `makes players wait less (half of the matched within 9 s instead of 12 s)`. Returns undefined
 * if no measure of the topic has this verdict.
 */
function phraseOf(
  topic: Topic,
  measures: readonly MeasuredDifference[],
  verdict: 'better' | 'worse',
): string | undefined {
  const saying = measures.filter((one) => one.verdict === verdict)
  if (saying.length === 0) return undefined
  const telling = saying.toSorted((a, b) => changeOf(b) - changeOf(a)).slice(0, MOST_FACTS)
  const facts = saying
    .filter((one) => telling.includes(one))
    .map(({ key, first, other }) => {
      const { unit = 'count', says = (values) => values } = measureOf(key) ?? ({} as Partial<Measure>)
      return says(`${quantity(other, unit)} instead of ${quantity(first, unit)}`)
    })
  const isMixed = measures.some((one) => one.verdict === (verdict === 'better' ? 'worse' : 'better'))
  const inPart = `${verdict === 'better' ? 'improves' : 'harms'} ${TOPICS[topic].alike} in part`
  return `${isMixed ? inPart : TOPICS[topic][verdict]} (${facts.join('; ')})`
}

const listed = (words: readonly string[]): string =>
  words.length < 2 ? (words[0] ?? '') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`

/** The result of comparing a variant with the first one. */
export interface Comparison {
  readonly name: string
  readonly with: string
  readonly measures: readonly MeasuredDifference[]
  /** The differences for each queue, region, party size and band of skill. */
  readonly slices: readonly SliceDifference[]
  /** What the variant is better and worse at, and what the data cannot show. */
  readonly sentences: readonly string[]
}

/** Compares each further variant with the first. All had the same crowds, so their runs with one seed are a pair. */
export function compare({ variants, seeds }: LabResult): readonly Comparison[] {
  const [first, ...others] = variants
  if (first === undefined) return []
  return others.map((other) => {
    const measures = measuredDifferences(first, other)
    const sentences = sentencesOf({ name: other.name, first: first.name, measures, seeds: seeds.length })
    return { name: other.name, with: first.name, measures, slices: sliceDifferences(first, other), sentences }
  })
}

function measuredDifferences(first: Variant, other: Variant): MeasuredDifference[] {
  const both = MEASURES.flatMap((measure) => {
    const [one, two] = [valuesOf(first, measure), valuesOf(other, measure)]
    const difference = differenceOf(one, two)
    return difference === undefined ? [] : [{ measure, one, two, difference }]
  })
  return both.map(({ measure, one, two, difference }) => {
    const judged = { better: measure.better, least: leastOf(measure, difference), family: both.length }
    return { key: measure.key, ...difference, verdict: judge(one, two, judged) }
  })
}

const leastOf = ({ unit, least }: Measure, { first, other }: Difference): number =>
  unit === 'share' ? least : Math.max(least, 0.01 * Math.abs(first), 0.01 * Math.abs(other))

/** Returns the value of a measure in each run of a variant. */
export const valuesOf = ({ runs }: Variant, { of }: Pick<Measure, 'of'>) => runs.map(({ figures }) => of(figures))
