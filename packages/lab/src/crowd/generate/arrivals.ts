import { InvalidInput } from '@muster/core'
import type { Random } from '@muster/core/clock'
import { groupBy } from '@muster/core/internal'
import { firstIndex } from '../../statistics/index.js'
import type { City } from './cities.js'
import { choiceOf } from './distributions.js'
import type { CompleteParameters } from './parameters.js'

const HOUR_MS = 3_600_000
/** Milliseconds of a step, within which the activity is constant. */
const STEP_MS = 60_000

export type Arrivals = ReturnType<typeof arrivalsOf>

/**
 * Creates the distribution of where and when parties come. Arrivals follow the activity by local time, so a city has
 * few players at night.
 * @throws {InvalidInput} if nobody could come.
 */
export function arrivalsOf({ cities, regions, activity, startsAt, hours }: CompleteParameters) {
  const durationMs = Math.round(hours * HOUR_MS)
  const curves = new Map<number, ReturnType<typeof curveOf>>()
  for (const { utcOffsetHours: offset } of cities) {
    if (!curves.has(offset)) curves.set(offset, curveOf(activity, startsAt + offset * HOUR_MS, durationMs))
  }
  const curveAt = (city: number) => curves.get((cities[city] as City).utcOffsetHours) as ReturnType<typeof curveOf>
  const byRegion = groupBy(cities.keys(), (index) => (cities[index] as City).region)
  const neighbours = new Map(
    Array.from(byRegion, ([region, inside]) => {
      const populations = inside.map((index) => (cities[index] as City).population)
      const population = populations.reduce((sum, one) => sum + one, 0)
      return [region, { cities: inside, population, choice: choiceOf(populations) }]
    }),
  )
  const shareOf = ({ region, population }: City) =>
    population === 0 ? 0 : ((regions[region] ?? 0) * population) / (neighbours.get(region)?.population ?? 0)

  const weights = cities.map((city, index) => shareOf(city) * curveAt(index).total)
  if (!weights.some((weight) => weight > 0)) {
    const message = 'crowd parameter activity: must not be 0 in all hours of the crowd'
    throw new InvalidInput(message, { field: 'activity' })
  }
  return {
    /** Draws the index of the city of a party's first member. */
    city: choiceOf(weights),
    /** Draws the index of a city in the same region, weighted by population. */
    cityNear: (city: number, random: Random) => {
      const near = neighbours.get((cities[city] as City).region)
      return near?.cities[near.choice(random)] ?? city
    },
    /** Draws the time at which a party of this city comes, in milliseconds from the crowd's start. */
    at: (city: number, random: Random) => curveAt(city).at(random()),
  }
}

/**
 * Creates the distribution of arrivals for a time zone. @param localStart local time at which the crowd begins, as
 * epoch milliseconds.
 */
function curveOf(activity: readonly number[], localStart: number, durationMs: number) {
  const steps = Math.ceil(durationMs / STEP_MS)
  const sums = new Float64Array(steps + 1)
  for (let step = 0; step < steps; step += 1) {
    const [from, to] = [step * STEP_MS, Math.min(durationMs, (step + 1) * STEP_MS)]
    const level = activityAt(activity, (localStart + (from + to) / 2) / HOUR_MS)
    sums[step + 1] = (sums[step] as number) + level * (to - from)
  }
  const total = sums[steps] as number
  return {
    total,
    /** Returns the time before which this share of all arrivals comes. @param share from 0 to below 1. */
    at: (share: number) => {
      const wanted = share * total
      const step = firstIndex(steps - 1, (at) => (sums[at + 1] as number) > wanted)
      const [before, after] = [sums[step] as number, sums[step + 1] as number]
      const within = after > before ? (wanted - before) / (after - before) : 0
      const lengthMs = Math.min(STEP_MS, durationMs - step * STEP_MS)
      return Math.min(Math.floor(step * STEP_MS + within * lengthMs), durationMs - 1)
    },
  }
}

function activityAt(activity: readonly number[], hours: number): number {
  const hour = Math.floor(hours)
  const [before, after] = [hour, hour + 1].map((at) => activity[((at % 24) + 24) % 24]) as [number, number]
  return before + (after - before) * (hours - hour)
}
