// pure: by what variants are compared for each queue, region, party size and band of skill
import type { Slice } from '../figures/figures.js'
import type { Spread } from '../statistics/spread.js'
import type { Unit } from './quantities.js'

/** A number that is told of a part of the players. */
export interface SliceMeasure {
  readonly key: string
  /** As the head of a column. */
  readonly label: string
  readonly unit: Unit
  /** Undefined where nobody has it. */
  of(slice: Slice): number | undefined
}

type Told = 'distanceKm' | 'latencyMs' | 'skillSpread' | 'teamGap' | 'winChance' | 'waitMs'

const told = (key: string, label: string, unit: Unit, spread: Told, value: keyof Spread): SliceMeasure => ({
  key,
  label,
  unit,
  of: ({ [spread]: given }) => (given.count === 0 ? undefined : given[value]),
})

/** All measures of slices, in the order in which they are shown. */
export const SLICE_MEASURES: readonly SliceMeasure[] = [
  { key: 'matched', label: 'matched', unit: 'share', of: ({ matched }) => matched },
  { key: 'gave-up', label: 'gave up', unit: 'share', of: ({ gaveUp }) => gaveUp },
  told('wait-p50', 'wait, half', 'ms', 'waitMs', 'p50'),
  told('wait-p90', 'wait, 90 %', 'ms', 'waitMs', 'p90'),
  told('wait-p99', 'wait, 99 %', 'ms', 'waitMs', 'p99'),
  told('distance', 'distance', 'km', 'distanceKm', 'mean'),
  told('latency', 'latency', 'roundTripMs', 'latencyMs', 'mean'),
  told('skill-spread', 'skill spread', 'skill', 'skillSpread', 'mean'),
  told('team-gap', 'team gap', 'skill', 'teamGap', 'mean'),
  told('win-chance', 'own team wins', 'share', 'winChance', 'mean'),
]
