// pure: by what queues are compared
import type { Figures } from '../figures/figures.js'
import type { Spread } from '../statistics/spread.js'
import type { Unit } from './quantities.js'

/** What a measure is about; a comparison says for each which queues are better at it. */
export type Topic = 'matching' | 'waiting' | 'quality' | 'fairness' | 'cost'

/** A number by which variants are compared. */
export interface Measure {
  readonly key: string
  readonly topic: Topic
  /** In a table, e.g. `wait, 90 % within`. */
  readonly label: string
  readonly unit: Unit
  readonly better: 'lower' | 'higher'
  /**
   * A difference that nobody would feel (our choice): where it is surely smaller, variants are alike. Of other units
   * than shares, also 1 % of the value.
   */
  readonly least: number
  /** What it is, in a sentence, e.g. of `9 s instead of 12 s`. */
  says(values: string): string
  /** Undefined where a run has none of it. */
  of(figures: Figures): number | undefined
}

const some = ({ count }: Spread, value: number): number | undefined => (count === 0 ? undefined : value)

/** Server hours, or their price, for a thousand matched players: so that who matches more is not called dearer. */
function perThousand({ all }: Figures, value: number | undefined): number | undefined {
  const matched = all.players * all.matched
  return value === undefined || matched === 0 ? undefined : (value / matched) * 1000
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

/** All measures, in the order in which they are shown. */
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
  {
    key: 'wait-p50',
    topic: 'waiting',
    label: 'wait, half within',
    unit: 'ms',
    better: 'lower',
    least: 100,
    says: (values) => `half of the matched within ${values}`,
    of: ({ all }) => some(all.waitMs, all.waitMs.p50),
  },
  {
    key: 'wait-p90',
    topic: 'waiting',
    label: 'wait, 90 % within',
    unit: 'ms',
    better: 'lower',
    least: 100,
    says: (values) => `90 % within ${values}`,
    of: ({ all }) => some(all.waitMs, all.waitMs.p90),
  },
  {
    key: 'skill-spread',
    topic: 'quality',
    label: 'skill spread in a match',
    unit: 'skill',
    better: 'lower',
    least: 0,
    says: (values) => `skill spread in a match ${values}`,
    of: ({ all }) => some(all.skillSpread, all.skillSpread.mean),
  },
  {
    key: 'team-gap',
    topic: 'quality',
    label: 'gap between teams',
    unit: 'skill',
    better: 'lower',
    least: 0,
    says: (values) => `gap between teams ${values}`,
    of: ({ matches }) => some(matches.teamGap, matches.teamGap.mean),
  },
  {
    key: 'favourite',
    topic: 'quality',
    label: 'chance of the favourite',
    unit: 'share',
    better: 'lower',
    least: 0.002,
    says: (values) => `the stronger team wins ${values}`,
    of: ({ matches }) => some(matches.favourite, matches.favourite.mean),
  },
  {
    key: 'distance',
    topic: 'quality',
    label: 'distance to the middle',
    unit: 'km',
    better: 'lower',
    least: 5,
    says: (values) => `${values} to the middle of the match`,
    of: ({ all }) => some(all.distanceKm, all.distanceKm.mean),
  },
  {
    key: 'latency-p90',
    topic: 'quality',
    label: 'latency, 90 % within',
    unit: 'roundTripMs',
    better: 'lower',
    least: 1,
    says: (values) => `latency of 90 % within ${values}`,
    of: ({ all }) => some(all.latencyMs, all.latencyMs.p90),
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
