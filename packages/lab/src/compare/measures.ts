// pure: quantities as text; the measures by which queues are compared
import type { Figures } from '../figures/index.js'
import type { Spread } from '../statistics/index.js'

/** The unit of a number. */
export type Unit = 'ms' | 'share' | 'km' | 'skill' | 'hours' | 'money' | 'count' | 'roundTripMs'

const grouped = (value: number, decimals: number): string => {
  const [whole = '', fraction] = Math.abs(value).toFixed(decimals).split('.')
  const digits = whole.replace(/\B(?=(\d{3})+$)/g, ',') + (fraction === undefined ? '' : `.${fraction}`)
  return value < 0 && /[1-9]/.test(digits) ? `−${digits}` : digits
}

/** Returns the number of decimals that leaves about three significant digits. */
const decimalsOf = (value: number): number => {
  const size = Math.abs(value)
  if (Number.isInteger(value) || size >= 100) return 0
  return size >= 10 ? 1 : 2
}

/** Formats a number with about three significant digits: `1,234`, `56.7`, `0.12`. */
const number = (value: number): string => grouped(value, decimalsOf(value))

/** Formats a wait like `850 ms`, `9.4 s`, `9 s`, `48 s`, `3 min 5 s` or `2 h 10 min`. */
function waitWords(ms: number): string {
  const size = Math.abs(ms)
  const sign = ms < 0 ? '−' : ''
  if (Math.round(size) < 1000) return `${sign}${Math.round(size)} ms`
  if (size < 9950) return `${sign}${Number((size / 1000).toFixed(1))} s`
  const seconds = Math.round(size / 1000)
  if (seconds < 120) return `${sign}${seconds} s`
  const [minutes, rest] = [Math.floor(seconds / 60), seconds % 60]
  if (minutes < 120) return `${sign}${minutes} min${rest === 0 ? '' : ` ${rest} s`}`
  return `${sign}${Math.floor(minutes / 60)} h${minutes % 60 === 0 ? '' : ` ${minutes % 60} min`}`
}

/** Formats a quantity with its unit. @param currency used for the unit `money`. */
export function quantity(value: number, unit: Unit, currency = ''): string {
  switch (unit) {
    case 'ms':
      return waitWords(value)
    case 'roundTripMs':
      return `${grouped(value, 0)} ms`
    case 'share':
      return `${grouped(value * 100, 1)} %`
    case 'km':
      return `${grouped(value, 0)} km`
    case 'hours':
      return `${number(value)} h`
    case 'money':
      return `${number(value)} ${currency}`.trim()
    case 'count':
      return grouped(value, 0)
    case 'skill':
      return number(value)
  }
}

/** Formats a difference with its sign: `+3.2 s`, `−1.4 points`, `±0`. Differences of shares are percentage points. */
export function signed(value: number, unit: Unit): string {
  const points = `${grouped(value * 100, 1)} points`
  const text = unit === 'share' ? points : quantity(value, unit)
  if (!/[1-9]/.test(text)) return '±0'
  return value > 0 ? `+${text}` : text
}

/** Formats an interval of differences, with the unit only once: `+12.4 to +13.5 points`. */
export function interval(low: number, high: number, unit: Unit): string {
  const [from, to] = [signed(low, unit), signed(high, unit)]
  const ending = / [^ ]+$/.exec(to)?.[0] ?? ''
  const isSimple = ending !== '' && from.endsWith(ending) && !/ .* /.test(from) && !/ .* /.test(to)
  return `${isSimple ? from.slice(0, -ending.length) : from} to ${to}`
}

/** The topic of a measure. A comparison states for each topic which variant is better. */
export type Topic = 'matching' | 'waiting' | 'quality' | 'fairness' | 'cost'

/** A number by which variants are compared. */
export interface Measure {
  readonly key: string
  readonly topic: Topic
  /** Label of the measure in a table, e.g. `wait, 90 % within`. */
  readonly label: string
  readonly unit: Unit
  readonly better: 'lower' | 'higher'
  /**
   * The smallest difference that matters (our choice). If the difference is certainly smaller, variants are alike. For
   * units other than shares, differences below 1 % of the value do not matter either.
   */
  readonly least: number
  /** Returns a phrase about the measure that contains `values`, e.g. `9 s instead of 12 s`. */
  says(values: string): string
  /** Returns the measure's value in a run; undefined if the run has none. */
  of(figures: Figures): number | undefined
}

/** Returns a value of a spread; undefined if nothing was measured. */
export const valueIn = (spread: Spread, value: keyof Spread): number | undefined =>
  spread.count === 0 ? undefined : spread[value]

/**
 * Returns server hours, or their price, for a thousand matched players. Divided by the matched players, so that a
 * variant that matches more players does not look more expensive.
 */
function perThousand({ all }: Figures, value: number | undefined): number | undefined {
  const matched = all.players * all.matched
  return value === undefined || matched === 0 ? undefined : (value / matched) * 1000
}

/** Returns the share of the matches of all pools that got a warm server. */
function warmShare({ pools }: Figures): number | undefined {
  const all = Object.values(pools)
  const matches = all.reduce((sum, pool) => sum + pool.matches, 0)
  return matches === 0 ? undefined : all.reduce((sum, pool) => sum + pool.warm * pool.matches, 0) / matches
}

const uneven = (dimension: 'region' | 'skillBand' | 'partySize', label: string, one: string): Measure => ({
  key: `uneven-${dimension}`,
  topic: 'fairness',
  label: `unfair to ${label}`,
  unit: 'share',
  better: 'lower',
  least: 0.01,
  says: (values) => `of the worst served, ${values} would have to be of another ${one}`,
  of: ({ fairness }) =>
    Object.keys(fairness.by[dimension].groups).length < 2 ? undefined : fairness.by[dimension].uneven,
})

const wait = (
  key: string,
  label: string,
  spread: 'waitMs' | 'toPlayMs',
  value: keyof Spread,
  says: Measure['says'],
): Measure => ({
  key,
  topic: 'waiting',
  label,
  unit: 'ms',
  better: 'lower',
  least: 100,
  says,
  of: ({ all }) => valueIn(all[spread], value),
})

/** All measures, in display order. */
export const MEASURES: readonly Measure[] = [
  {
    key: 'matched',
    topic: 'matching',
    label: 'matched',
    unit: 'share',
    better: 'higher',
    least: 0.001,
    says: (values) => values,
    of: ({ all }) => all.matched,
  },
  wait('wait-p50', 'wait, half within', 'waitMs', 'p50', (values) => `half of the matched within ${values}`),
  wait('wait-p90', 'wait, 90 % within', 'waitMs', 'p90', (values) => `90 % within ${values}`),
  wait('to-play-p50', 'to play, half within', 'toPlayMs', 'p50', (values) => `half play within ${values}`),
  wait('to-play-p95', 'to play, 95 % within', 'toPlayMs', 'p95', (values) => `95 % play within ${values}`),
  {
    key: 'warm',
    topic: 'waiting',
    label: 'found a warm server',
    unit: 'share',
    better: 'higher',
    least: 0.005,
    says: (values) => `${values} of matches find a warm server`,
    of: warmShare,
  },
  {
    key: 'skill-spread',
    topic: 'quality',
    label: 'skill spread in a match',
    unit: 'skill',
    better: 'lower',
    least: 0,
    says: (values) => `skill spread in a match ${values}`,
    of: ({ all }) => valueIn(all.skillSpread, 'mean'),
  },
  {
    key: 'team-gap',
    topic: 'quality',
    label: 'gap between teams',
    unit: 'skill',
    better: 'lower',
    least: 0,
    says: (values) => `gap between teams ${values}`,
    of: ({ matches }) => valueIn(matches.teamGap, 'mean'),
  },
  {
    key: 'favourite',
    topic: 'quality',
    label: 'chance of the favourite',
    unit: 'share',
    better: 'lower',
    least: 0.002,
    says: (values) => `the stronger team wins ${values}`,
    of: ({ matches }) => valueIn(matches.favourite, 'mean'),
  },
  {
    key: 'distance',
    topic: 'quality',
    label: 'distance to the middle',
    unit: 'km',
    better: 'lower',
    least: 5,
    says: (values) => `${values} to the middle of the match`,
    of: ({ all }) => valueIn(all.distanceKm, 'mean'),
  },
  {
    key: 'latency-p90',
    topic: 'quality',
    label: 'latency, 90 % within',
    unit: 'roundTripMs',
    better: 'lower',
    least: 1,
    says: (values) => `latency of 90 % within ${values}`,
    of: ({ all }) => valueIn(all.latencyMs, 'p90'),
  },
  uneven('region', 'regions', 'region'),
  uneven('skillBand', 'skill bands', 'skill band'),
  uneven('partySize', 'party sizes', 'party size'),
  {
    key: 'server-hours',
    topic: 'cost',
    label: 'hours per 1,000 matched',
    unit: 'hours',
    better: 'lower',
    least: 0.05,
    says: (values) => `${values} of servers for 1,000 matched players`,
    of: (figures) => perThousand(figures, figures.servers.hours),
  },
]
