import { quantity, type Unit } from '../compare/index.js'
import type { Figures, Refusal, Variant } from '../figures/index.js'
import { meanOf } from '../statistics/index.js'

/**
 * How one variant looks in plots. Up to eight variants differ in colour. Dash and mark help readers who cannot
 * distinguish colours.
 */
export interface VariantSeries {
  readonly name: string
  /** Index of the variant in the result. */
  readonly index: number
  /** A CSS colour, which depends on the light or dark scheme. */
  readonly colour: string
  /** Dash pattern; undefined for a solid line. */
  readonly dash: string | undefined
  readonly symbol: 'circle' | 'square' | 'triangle' | 'diamond' | 'star' | 'cross'
}

const DASHES = [undefined, '7 3', '2 3', '9 3 2 3'] as const
const SYMBOLS = ['circle', 'square', 'triangle', 'diamond', 'star', 'cross'] as const

/**
 * Colours for the light and the dark scheme. They are distinguishable with every common kind of colour blindness (after
 * Okabe and Ito).
 */
export const COLOURS = {
  light: ['#0b5fb0', '#c2490a', '#00755a', '#8a3a94', '#7a5b00', '#b01e55', '#37697a', '#4d4d4d'],
  dark: ['#74b5ff', '#ff9d5f', '#35cda0', '#dc9be6', '#e3b53a', '#ff8cb4', '#8cc7da', '#c4c4c4'],
} as const

export const seriesOf = (names: readonly string[]): VariantSeries[] =>
  names.map((name, index) => ({
    name,
    index,
    colour: `var(--series-${(index % COLOURS.light.length) + 1})`,
    dash: DASHES[index % DASHES.length],
    symbol: SYMBOLS[index % SYMBOLS.length] as VariantSeries['symbol'],
  }))

/** Mean, minimum and maximum of a value over the seeds of a variant. */
export interface OverSeeds {
  readonly mean: number
  readonly low: number
  readonly high: number
}

export const NOTHING: OverSeeds = { mean: 0, low: 0, high: 0 }

/** Returns mean, minimum and maximum of the values; undefined if no run has a value. */
export function overSeeds(values: readonly (number | undefined)[]): OverSeeds | undefined {
  const known = values.filter((value) => value !== undefined)
  return known.length === 0 ? undefined : { mean: meanOf(known), low: Math.min(...known), high: Math.max(...known) }
}

const UNITS: Readonly<Record<string, Unit>> = { km: 'km', ms: 'roundTripMs' }

/** Formats a number in the unit of a limit: `60 ms`, `1,000 km`, `5`. */
export const quantityIn = (unit: string, value: number): string => quantity(value, UNITS[unit] ?? 'skill')

/** How the values of several runs become one text. */
interface Summary {
  /** The value of a run that has none. Default: such a run does not count. */
  readonly without?: number
  /** The value over the seeds that is shown. Default `mean`. */
  readonly shown?: keyof OverSeeds
}

/**
 * Returns a figure of each variant over the seeds as text, or `–`. Undefined if no variant has the figure.
 */
export function overSeedsTexts(
  variants: readonly Variant[],
  unit: Unit,
  of: (figures: Figures) => number | undefined,
  { without, shown = 'mean' }: Summary = {},
): string[] | undefined {
  const values = variants.map(({ runs }) => runs.map(({ figures }) => of(figures)))
  const currency = variants[0]?.runs[0]?.figures.servers.currency
  if (values.flat().every((value) => value === undefined)) return undefined
  return values.map((own) => {
    const value = overSeeds(own.map((one) => one ?? without))?.[shown]
    return value === undefined ? '–' : quantity(value, unit, currency)
  })
}

/** A figure that is neither good nor bad. Some appear in only one of the reports. */
type PlainFigure = readonly [
  label: string,
  unit: Unit,
  of: (figures: Figures) => number | undefined,
  options?: Summary & { readonly only?: 'text' | 'page' },
]

/** Figures that are neither good nor bad, in display order. The ends of a run do not contain those of nobody. */
const PLAIN: readonly PlainFigure[] = [
  ['players in tickets', 'count', ({ all }) => all.players],
  ['wait, 99 % within', 'ms', ({ all }) => (all.waitMs.count === 0 ? undefined : all.waitMs.p99)],
  ['gave up', 'share', ({ all }) => all.gaveUp],
  ['expired', 'share', ({ all }) => all.ends.expired, { only: 'page', without: 0 }],
  ['refused by the rules', 'share', ({ all }) => all.ends.refused, { without: 0 }],
  ['matches', 'count', ({ matches }) => matches.count, { only: 'page' }],
  ['servers at most', 'count', ({ servers }) => servers.most],
  ['server hours', 'hours', ({ servers }) => servers.hours],
  ['of these idle', 'hours', ({ servers }) => servers.idleHours],
  ['of these booting', 'hours', ({ servers }) => servers.bootHours],
  ['cost of servers', 'money', ({ servers }) => servers.cost],
  ['busiest requests, of limit', 'share', busiestOf, { only: 'text', shown: 'high' }],
]

/** Returns the highest use of a rate limit by any operation, as a share of the limit; undefined without requests. */
function busiestOf({ requests }: Figures): number | undefined {
  const shares = Object.values(requests).flatMap(({ busiest, limit }) => (limit ? [busiest / limit] : []))
  return shares.length === 0 ? undefined : Math.max(...shares)
}

/** Returns the figures of each variant that are neither good nor bad, as text. */
export const plainTexts = (variants: readonly Variant[], report: 'text' | 'page') =>
  PLAIN.flatMap(([label, unit, of, { only = report, ...summary } = {}]) => {
    const texts = only === report ? overSeedsTexts(variants, unit, of, summary) : undefined
    return texts === undefined ? [] : [{ label, texts }]
  })

/** Returns why players were refused in the runs of a variant, the most frequent reason first. */
export function meanRefusals({ runs }: Variant): Refusal[] {
  const shares = new Map<string, number>()
  for (const { why, share } of runs.flatMap(({ figures }) => figures.refusals))
    shares.set(why, (shares.get(why) ?? 0) + share / runs.length)
  return Array.from(shares, ([why, share]) => ({ why, share })).toSorted((a, b) => b.share - a.share)
}
