import {
  compare,
  valuesOf,
  type Comparison,
  groupsOf,
  slicesOf,
  type Verdict,
  MEASURES,
  quantity,
  type Unit,
} from '../compare/index.js'
import type { Dimension, Figures, LabResult, Slice, Variant } from '../figures/index.js'
import { ratingSentences } from '../ratings/rating-book.js'
import { plain, shortened } from './page.js'
import { poolTexts } from './pools.js'
import { meanRefusals, meanTexts, overSeeds } from './series.js'

/** Characters of a line, of the first column, and of a variant's column: four stand beside one another. */
const WIDTH = 80
const FIRST = 28
const COLUMN = 13
const AT_ONCE = 4

const MARKS: Readonly<Record<Verdict, string>> = { better: '+', worse: '-', alike: '=', unclear: '?' }

/** A result for terminals: sentences, and tables of 80 columns, which show four variants beside one another. */
export function reportText(result: LabResult): string {
  const comparisons = compare(result)
  const { crowd, seeds, variants } = result
  const [players, arrivals] = [quantity(crowd.players, 'count'), quantity(crowd.durationMs, 'ms')]
  const runs = `${seeds.length} ${seeds.length === 1 ? 'seed' : 'seeds'}`
  const facts = `${plain(crowd.name)}: ${players} players in ${arrivals}, ${runs}`
  const said = comparisons.flatMap(({ sentences }) => ['', ...wrapped(plain(sentences.join(' ')))])
  const blocks = chunks(variants.map((_, index) => index)).flatMap((indexes) => block(result, comparisons, indexes))
  return [
    ...wrapped(facts),
    ...said,
    ...blocks,
    ...marksHelp(comparisons),
    ...refusalLines(variants),
    ...possibleLines(variants),
    ...ratingLines(result),
  ].join('\n')
}

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
    ...plainLines(some),
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

/** What is neither good nor bad. */
function plainLines(some: readonly Variant[]): string[] {
  const meanLine = (label: string, unit: Unit, of: (figures: Figures) => number | undefined): string[] => {
    const texts = meanTexts(some, unit, of)
    return texts === undefined ? [] : [plainLine(label, texts)]
  }
  return [
    ...meanLine('players in tickets', 'count', ({ all }) => all.players),
    ...meanLine('wait, 99 % within', 'ms', ({ all }) => (all.waitMs.count === 0 ? undefined : all.waitMs.p99)),
    ...meanLine('gave up', 'share', ({ all }) => all.gaveUp),
    ...meanLine('refused by the rules', 'share', ({ all }) => all.ends.refused),
    ...meanLine('servers at most', 'count', ({ servers }) => servers.most),
    ...meanLine('server hours', 'hours', ({ servers }) => servers.hours),
    ...meanLine('of these idle', 'hours', ({ servers }) => servers.idleHours),
    ...meanLine('of these booting', 'hours', ({ servers }) => servers.bootHours),
    ...meanLine('cost of servers', 'money', ({ servers }) => servers.cost),
    ...meanLine('busiest requests, of limit', 'share', busiestOf),
  ]
}

/** A line of values without marks, below those that have them. */
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

/** The busiest moment of any request, as a share of its limit. */
function busiestOf({ requests }: Figures): number | undefined {
  const shares = Object.values(requests).flatMap(({ busiest, limit }) => (limit ? [busiest / limit] : []))
  return shares.length === 0 ? undefined : Math.max(...shares)
}

function groupLines(some: readonly Variant[], dimension: Dimension, title: string): string[] {
  const groups = groupsOf(some, dimension)
  if (groups.length < 2) return []
  const lines = groups.map((group) => {
    const cells = some.map((variant) => {
      const slices = slicesOf(variant, dimension, group)
      const mean = (of: (slice: Slice) => number | undefined) =>
        overSeeds(slices.map((slice) => slice && of(slice)))?.mean
      const [matched, wait] = [
        mean((slice) => slice.matched),
        mean(({ waitMs }) => (waitMs.count === 0 ? undefined : waitMs.p90)),
      ]
      if (matched === undefined) return '–'
      return `${Math.round(matched * 100)} %${wait === undefined ? '' : ` ${short(wait)}`}`
    })
    return line(`  ${shortened(group, FIRST - 3)}`, cells)
  })
  return ['', title, ...lines]
}

/** A wait that leaves room: `95 s`, `12 min`. */
const short = (ms: number) => (ms >= 599_500 ? `${Math.round(ms / 60_000)} min` : `${Math.round(ms / 1000)} s`)

const line = (first: string, cells: readonly string[]): string =>
  `${first.padEnd(FIRST)}${cells.map((cell) => cell.padStart(COLUMN)).join('')}`.trimEnd()

function chunks(indexes: readonly number[]): number[][] {
  const parts = Array.from({ length: Math.ceil(indexes.length / AT_ONCE) }, (_, at) => at * AT_ONCE)
  return parts.map((from) => indexes.slice(from, from + AT_ONCE))
}

const marksHelp = ([comparison]: readonly Comparison[]): string[] =>
  comparison === undefined
    ? []
    : [
        '',
        ...wrapped(
          `+ better than ${plain(comparison.with)}, - worse, = alike, ? the data cannot tell (at 95 % confidence)`,
        ),
      ]

/** Why players were refused, of each variant. */
function refusalLines(variants: readonly Variant[]): string[] {
  const lines = variants.flatMap((variant) => {
    const reasons = meanRefusals(variant).map(({ why, share }) => `${quantity(share, 'share')} ${why}`)
    return reasons.length === 0 ? [] : wrapped(plain(`${variant.name}: ${reasons.join('; ')}`))
  })
  return lines.length === 0 ? [] : ['', 'why players were refused', ...lines]
}

/** What was reached, as a multiple of what was possible. */
function possibleLines(variants: readonly Variant[]): string[] {
  const lines = variants.flatMap(({ name, runs }) => {
    const bounds = runs.flatMap(({ possible = [] }) => possible)
    return [...new Set(bounds.map(({ queue, what, kind }) => JSON.stringify([queue, what, kind])))].flatMap((id) => {
      const own = bounds.filter(({ queue, what, kind }) => id === JSON.stringify([queue, what, kind]))
      const [{ queue, what, kind } = { queue: '', what: '', kind: '' }] = own
      const sum = (of: 'reached' | 'possible') => own.reduce((total, bound) => total + bound[of], 0)
      if (sum('possible') === 0) return []
      const times = (sum('reached') / sum('possible')).toFixed(2)
      return wrapped(plain(`${name}: ${queue} has ${times} times the ${kind} of ${what}`))
    })
  })
  return lines.length === 0 ? [] : ['', 'what was possible at all', ...lines]
}

function ratingLines(result: LabResult): string[] {
  const lines = ratingSentences(result).flatMap((sentence) => wrapped(plain(sentence)))
  return lines.length === 0 ? [] : ['', 'ratings', ...lines]
}

/** A text in lines of at most 80 characters. */
function wrapped(text: string): string[] {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const last = lines.at(-1)
    if (last === undefined || last.length + 1 + word.length > WIDTH) lines.push(word)
    else lines[lines.length - 1] = `${last} ${word}`
  }
  return lines
}
