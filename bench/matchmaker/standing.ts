import { STEPS, stepOf, type Sample } from './workload.js'

/** A waiting ticket, in the form that the measures of match cost use. */
export interface Standing {
  readonly sample: Sample
  /** The location as a point on the sphere of radius 1. */
  readonly point: readonly [x: number, y: number, z: number]
  readonly step: number
}

const EARTH_KM = 6371

export function standing(sample: Sample): Standing {
  const [north, east] = [(sample.latitude * Math.PI) / 180, (sample.longitude * Math.PI) / 180]
  const flat = Math.cos(north)
  return { sample, point: [flat * Math.cos(east), flat * Math.sin(east), Math.sin(north)], step: stepOf(sample) }
}

/** Returns true if two tickets may meet. The limits are those of the ticket that has waited less. */
export function mayMeet(one: Standing, other: Standing): boolean {
  const { skill, km } = STEPS[Math.min(one.step, other.step)] as (typeof STEPS)[number]
  return Math.abs(one.sample.skill - other.sample.skill) <= skill && kmBetween(one, other) <= km + 1e-6
}

/** Returns the sum of distance and difference in skill, each in units of its strictest limit. */
export const costOf = (one: Standing, other: Standing): number =>
  kmBetween(one, other) / STEPS[0].km + Math.abs(one.sample.skill - other.sample.skill) / STEPS[0].skill

function kmBetween({ point: one }: Standing, { point: other }: Standing): number {
  const squared = (one[0] - other[0]) ** 2 + (one[1] - other[1]) ** 2 + (one[2] - other[2]) ** 2
  return 2 * EARTH_KM * Math.asin(Math.min(1, Math.sqrt(squared) / 2))
}

/** Returns the average cost of a player: the mean cost to the others of the match, averaged over all players. */
export function averageCost(matches: readonly (readonly Standing[])[]): number {
  let [sum, players] = [0, 0]
  for (const match of matches) {
    for (const one of match) for (const other of match) sum += costOf(one, other) / (match.length - 1)
    players += match.length
  }
  return sum / players
}

/** The difference in skill that costs 1. */
export const SKILL_UNIT = STEPS[0].skill
