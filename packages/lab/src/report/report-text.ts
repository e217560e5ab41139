import { groupBy } from '@muster/core/internal'
import {
  compare,
  valuesOf,
  type Comparison,
  groupsOf,
  slicesOf,
  type Verdict,
  MEASURES,
  quantity,
} from '../compare/index.js'
import type { Dimension, LabResult, Possible, Slice, Variant } from '../figures/index.js'
import { ratingSentences } from '../ratings/rating-book.js'
import { plain, shortened } from './page.js'
import { poolTexts } from './pools.js'
import { meanRefusals, overSeeds, plainTexts } from './series.js'

/**
 * Number of characters of a line, of its first column, and of a variant's column. Four variants fit beside one another.
 */
const WIDTH = 80
const FIRST = 28
const COLUMN = 13
const AT_ONCE = 4

const MARKS: Readonly<Record<Verdict, string>> = { better: '+', worse: '-', alike: '=', unclear: '?' }

/**
 * Returns a result as text for terminals: sentences, and tables of 80 columns with up to four variants beside one
 * another.
 */
export function reportText(result: LabResult): string {
  const comparisons = compare(result)
  const { crowd, seeds, variants } = result
  const [players, arrivals] = [quantity(crowd.players, 'count'), quantity(crowd.durationMs, 'ms')]
  const runs = `${seeds.length} ${seeds.length === 1 ? 'seed' : 'seeds'}`
  const facts = `${plain(crowd.name)}: ${players} players in ${arrivals}, ${runs}`
  const said = comparisons.flatMap(({ sentences }) => ['', ...wrapped(plain(sentences.join(' ')))])
  const blocks = [...groupBy(variants.keys(), (index) => Math.floor(index / AT_ONCE)).values()].flatMap((indexes) =>
    block(result, comparisons, indexes),
  )
  const reasonsOf = (variant: Variant) =>
    meanRefusals(variant).map(({ why, share }) => `${quantity(share, 'share')} ${why}`)
  const refused = variants.map((variant) => ({ name: variant.name, reasons: reasonsOf(variant) }))
  return [
    ...wrapped(facts),
    ...said,
    ...blocks,
    ...marksHelp(comparisons),
    ...titled(
      'why players were refused',
      refused.flatMap(({ name, reasons }) => (reasons.length === 0 ? [] : `${name}: ${reasons.join('; ')}`)),
    ),
    ...titled('what was possible at all', variants.flatMap(possibleSentences)),
    ...titled('ratings', ratingSentences(result)),
  ].join('\n')
}

/** Returns sentences below a title; nothing if there are no sentences. */
const titled = (title: string, sentences: readonly string[]): string[] =>
  sentences.length === 0 ? [] : ['', title, ...sentences.flatMap((sentence) => wrapped(plain(sentence)))]

function block(result: LabResult, comparisons: readonly Comparison[], indexes: readonly number[]): string[] {
  const some = indexes.map((index) => result.variants[index] as Variant)
  const isLong = some.some(({ name }) => plain(name).length > COLUMN - 1)
  const names = some.map(({ name }, at) => (isLong ? `(${(indexes[at] as number) + 1})` : plain(name)))
  const keys = isLong ? ['', ...some.map(({ name }, at) => `${names[at]} ${shortened(name, WIDTH - 6)}`)] : []
  const by = (dimension: Dimension, title: string) => groupLines(some, dimension, title)
  return [
    ...keys,
    '',
    line('', names),
    ...measureLines(some, comparisons, indexes),
    ...plainTexts(some, 'text').map(({ label, texts }) => plainLine(label, texts)),
    ...poolLines(some),
    ...by('queue', 'by queue: matched, 90 % within'),
    ...by('region', 'by region: matched, 90 % within'),
    ...by('skillBand', 'by skill: matched, 90 % within'),
    ...by('partySize', 'by party size: matched, 90 % within'),
  ]
}

const measureLines = (some: readonly Variant[], comparisons: readonly Comparison[], indexes: readonly number[]) =>
  MEASURES.flatMap((measure) => {
    const cells = some.map((variant, at) => {
      const value = overSeeds(valuesOf(variant, measure))
      const compared = comparisons[(indexes[at] as number) - 1]?.measures.find(({ key }) => key === measure.key)
      return value === undefined
        ? '–'
        : `${quantity(value.mean, measure.unit)} ${compared === undefined ? ' ' : MARKS[compared.verdict]}`
    })
    return cells.every((cell) => cell === '–') ? [] : [line(measure.label, cells)]
  })

/** Returns a line of figures that have no verdict. */
const plainLine = (label: string, texts: readonly string[]) =>
  line(
    label,
    texts.map((text) => (text === '–' ? text : `${text}  `)),
  )

const poolLines = (some: readonly Variant[]): string[] =>
  poolTexts(some).flatMap(({ pool, rows }) => [
    '',
    shortened(`pool ${pool}`, WIDTH),
    ...rows.map(([label, texts]) => plainLine(`  ${label}`, texts)),
  ])

function groupLines(some: readonly Variant[], dimension: Dimension, title: string): string[] {
  const groups = groupsOf(some, dimension)
  if (groups.length < 2) return []
  const lines = groups.map((group) => {
    const cells = some.map((variant) => {
      const slices = slicesOf(variant, dimension, group)
      const mean = (of: (slice: Slice) => number | undefined) =>
        overSeeds(slices.map((slice) => slice && of(slice)))?.mean
      const matched = mean((slice) => slice.matched)
      const wait = mean(({ waitMs }) => (waitMs.count === 0 ? undefined : waitMs.p90))
      if (matched === undefined) return '–'
      return `${Math.round(matched * 100)} %${wait === undefined ? '' : ` ${short(wait)}`}`
    })
    return line(`  ${shortened(group, FIRST - 3)}`, cells)
  })
  return ['', title, ...lines]
}

/** Formats a wait briefly: `95 s`, `12 min`. */
const short = (ms: number) => (ms >= 599_500 ? `${Math.round(ms / 60_000)} min` : `${Math.round(ms / 1000)} s`)

const line = (first: string, cells: readonly string[]): string =>
  `${first.padEnd(FIRST)}${cells.map((cell) => cell.padStart(COLUMN)).join('')}`.trimEnd()

function marksHelp([comparison]: readonly Comparison[]): string[] {
  if (comparison === undefined) return []
  const better = `+ better than ${plain(comparison.with)}`
  return ['', ...wrapped(`${better}, - worse, = alike, ? the data cannot tell (at 95 % confidence)`)]
}

/** Returns sentences about the actual cost as a multiple of the minimum. */
function possibleSentences({ name, runs }: Variant): string[] {
  const bounds = runs.flatMap(({ possible = [] }) => possible)
  const alike = groupBy(bounds, ({ queue, what, kind }) => JSON.stringify([queue, what, kind]))
  return [...alike.values()].flatMap((own) => {
    const [{ queue, what, kind }] = own as [Possible]
    const sum = (of: 'reached' | 'possible') => own.reduce((total, bound) => total + bound[of], 0)
    if (sum('possible') === 0) return []
    return [`${name}: ${queue} has ${(sum('reached') / sum('possible')).toFixed(2)} times the ${kind} of ${what}`]
  })
}

/** Wraps a text to lines of at most 80 characters. */
function wrapped(text: string): string[] {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const last = lines.at(-1)
    if (last === undefined || last.length + 1 + word.length > WIDTH) lines.push(word)
    else lines[lines.length - 1] = `${last} ${word}`
  }
  return lines
}
