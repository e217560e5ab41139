// pure: the places that a fleet's policy allows
import type { Coordinates } from '@muster/core/api'
import type { Place } from '../places.js'
import type { PolicyRecord } from '../records.js'
import { placeFilter } from './place-filter.js'
import { isProblem, type Problem } from './problem.js'

export interface PolicyPlaces {
  readonly allows: (place: Place) => boolean
  /** The point that deployments should be near to; if undefined, deployments spread over all allowed places. */
  readonly near: Coordinates | undefined
}

/**
 * Reads a policy's filters, which choose places by location or tag. The document does not show the form of a
 * Coordinates policy; here its filters are on the fields latitude and longitude, each with one value in degrees (our
 * choice).
 */
export function policyPlaces({ type, filters }: Pick<PolicyRecord, 'type' | 'filters'>): PolicyPlaces | Problem {
  const coordinates =
    type === 'Coordinates' ? filters.filter(({ field }) => field === 'latitude' || field === 'longitude') : []
  const allows = placeFilter(filters.filter((filter) => !coordinates.includes(filter)))
  if (isProblem(allows)) return { problem: `data.${allows.problem}` }
  if (type !== 'Coordinates') return { allows, near: undefined }
  const read = (field: string, most: number) => {
    const values = coordinates.filter((filter) => filter.field === field).flatMap((filter) => filter.values)
    const degrees = values.length === 1 && values[0]?.trim() !== '' ? Number(values[0]) : NaN
    return Math.abs(degrees) <= most ? degrees : undefined
  }
  const latitude = read('latitude', 90)
  const longitude = read('longitude', 180)
  if (latitude === undefined || longitude === undefined) {
    return {
      problem: 'data.filters: a Coordinates policy needs one value in degrees for each of latitude and longitude',
    }
  }
  return { allows, near: { latitude, longitude } }
}
