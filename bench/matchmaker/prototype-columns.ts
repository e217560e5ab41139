import { STEPS, stepOf, type Sample } from './workload.js'

/** The tickets of the prototype, which come alone: a column for each of their properties. */
export interface Columns {
  readonly count: number
  readonly latitude: Float32Array
  readonly longitude: Float32Array
  /** A point on the sphere of radius 1. */
  readonly x: Float32Array
  readonly y: Float32Array
  readonly z: Float32Array
  readonly skill: Float32Array
  readonly waitedS: Float32Array
  /** The index of the step that a ticket has reached. */
  readonly step: Uint8Array
}

const EARTH_KM = 6371

/** The limits of each step: the difference in skill, and the squared length of the straight line through the Earth. */
export const SKILL_LIMITS = STEPS.map(({ skill }) => skill)
export const CHORD_LIMITS = STEPS.map(({ km }) => (2 * Math.sin(km / (2 * EARTH_KM))) ** 2)

/** What costs 1 in the choice among candidates: so much of a straight line, so much skill. */
export const COST_PER_CHORD = EARTH_KM / 500
export const COST_PER_SKILL = 0.01

export function columnsOf(samples: readonly Sample[]): Columns {
  const count = samples.length
  const column = () => new Float32Array(count)
  const columns: Columns = {
    count,
    latitude: column(),
    longitude: column(),
    x: column(),
    y: column(),
    z: column(),
    skill: column(),
    waitedS: column(),
    step: new Uint8Array(count),
  }
  for (const [ticket, sample] of samples.entries()) {
    const north = (sample.latitude * Math.PI) / 180
    const east = (sample.longitude * Math.PI) / 180
    columns.latitude[ticket] = sample.latitude
    columns.longitude[ticket] = sample.longitude
    columns.x[ticket] = Math.cos(north) * Math.cos(east)
    columns.y[ticket] = Math.cos(north) * Math.sin(east)
    columns.z[ticket] = Math.sin(north)
    columns.skill[ticket] = sample.skill
    columns.waitedS[ticket] = sample.waitedS
    columns.step[ticket] = stepOf(sample)
  }
  return columns
}
