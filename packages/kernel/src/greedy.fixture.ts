import { seededRandom } from '@muster/core/clock'
import type { Entry, Model, Radius, Span } from './data/model.js'

/** Crowds around cities, rules about locations and values, and the result of a greedy nearest-neighbour search. */

export const NOW = 1_000_000
const EARTH_KM = 6371
const STEPS = [
  { afterMs: 0, km: 500, gap: 50 },
  { afterMs: 5000, km: 1000, gap: 100 },
  { afterMs: 20_000, km: 4000, gap: 400 },
] as const

const chordOf = (km: number) => 2 * Math.sin(km / EARTH_KM / 2)

const radius: Radius = {
  by: 'each',
  squared: Float64Array.from(STEPS, ({ km }) => chordOf(km) ** 2),
  unknown: 'any',
}
const gaps: Span = { by: 'each', limit: Float64Array.from(STEPS, ({ gap }) => gap) }
/** A second rule, which separates the tickets into two halves. */
const kinds: Span = { by: 'each', limit: Float64Array.from(STEPS, () => 1) }

const modelOf = (rules: Pick<Model<undefined>, 'radius' | 'spans'>): Model<undefined> => ({
  levels: Float64Array.from(STEPS, ({ afterMs }) => afterMs),
  lastResortLevel: Infinity,
  teams: [1, 2].map((team) => ({ name: `team-${team}`, max: 1, min: Uint16Array.from(STEPS, () => 1) })),
  fillForMs: 0,
  checks: undefined,
  ...rules,
})
export const models = {
  both: modelOf({ radius, spans: [gaps] }),
  places: modelOf({ radius, spans: [] }),
  values: modelOf({ radius: undefined, spans: [gaps] }),
  'both and a second value': modelOf({ radius, spans: [gaps, kinds] }),
}

/** Creates single players around some cities, most of them of similar skill. */
export function crowd(count: number, seed: number): Entry<undefined>[] {
  const random = seededRandom(seed)
  const around = () => random() + random() + random() - 1.5
  const many = 1 + Math.floor(random() * 40)
  const cities = Array.from({ length: many }, () => [160 * random() - 80, 360 * random() - 180])
  const spread = 1 + 5 * random()
  return Array.from({ length: count }, (_, at) => {
    const [latitude, longitude] = cities[Math.floor(random() * cities.length)] as [number, number]
    const value = 1500 + 600 * around()
    return {
      id: `t${at}`,
      size: 1,
      since: NOW + Math.floor(8000 * Math.log(1 - random())),
      priority: 0,
      key: '',
      place: point(latitude + spread * around(), longitude + 2 * spread * around()),
      network: undefined,
      values: [value, value, at % 4, at % 4],
      facts: undefined,
    }
  })
}

function point(latitude: number, longitude: number): [number, number, number] {
  const [north, east] = [(latitude * Math.PI) / 180, (longitude * Math.PI) / 180]
  return [Math.cos(north) * Math.cos(east), Math.cos(north) * Math.sin(east), Math.sin(north)]
}

type Place = readonly [number, number, number]

/**
 * Returns the sum of the distance and the first difference in units of their strictest limits. Infinity for two that
 * may not meet.
 */
export function costOf({ radius, spans }: Model<undefined>, one: Entry<undefined>, other: Entry<undefined>): number {
  const [a, b] = [one.place as Place, other.place as Place]
  const chord = radius === undefined ? 0 : Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2])
  const gap = spans.length === 0 ? 0 : Math.abs((one.values[0] as number) - (other.values[0] as number))
  const kinds = spans.length < 2 ? 0 : Math.abs((one.values[2] as number) - (other.values[2] as number))
  const youngest = Math.max(one.since, other.since)
  const limits = STEPS.findLast(({ afterMs }) => NOW - youngest >= afterMs) ?? STEPS[0]
  if (gap > limits.gap || chord > chordOf(limits.km) || kinds > 1) return Infinity
  return chord / chordOf(STEPS[0].km) + gap / STEPS[0].gap
}

/** Returns the costs of the pairs of a greedy search: each ticket, oldest first, takes the best remaining one. */
export function greedyCosts(rules: Model<undefined>, entries: readonly Entry<undefined>[]): number[] {
  const left = entries.toSorted((one, other) => one.since - other.since)
  const isBySkill = rules.spans.length > 0
  const costs: number[] = []
  while (left.length > 1) {
    const one = left.shift() as Entry<undefined>
    let [best, at] = [Infinity, -1]
    for (let index = 0; index < left.length; index++) {
      const other = left[index] as Entry<undefined>
      // The check of the skill gap is cheap and avoids most distance computations.
      const gap = Math.abs((one.values[0] as number) - (other.values[0] as number))
      if (isBySkill && gap / STEPS[0].gap >= best) continue
      const cost = costOf(rules, one, other)
      if (cost < best) [best, at] = [cost, index]
    }
    if (at === -1) continue
    left.splice(at, 1)
    costs.push(best)
  }
  return costs
}
