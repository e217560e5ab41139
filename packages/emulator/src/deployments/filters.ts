// pure: filters of deployments and locations; problems as values instead of exceptions
import type { Filter } from '@muster/core/api'
import type { Coordinates } from '@muster/core/internal'
import type { Place } from '../places.js'
import type { PolicyRecord } from '../records.js'

/** A problem with a part of a request: a message for the caller. */
export interface RequestProblem {
  readonly problem: string
}

export const isProblem = <T>(value: T | RequestProblem): value is RequestProblem =>
  typeof value === 'object' && value !== null && 'problem' in value

/** The fields for filters, each with a function that reads an item's values. */
type FilterFields<Item> = Readonly<Record<string, (item: Item) => readonly string[]>>

/** The tests by filter type. The names of the types are public facts. */
const tests: Readonly<Record<string, (has: readonly string[], wanted: readonly string[]) => boolean>> = {
  any: (has, wanted) => wanted.some((value) => has.includes(value)),
  all: (has, wanted) => wanted.every((value) => has.includes(value)),
  not: (has, wanted) => !wanted.some((value) => has.includes(value)),
}

const oneOf = (words: Readonly<Record<string, unknown>>) => Object.keys(words).join(', ')

/**
 * Creates a predicate that is true for items that match all filters. An invalid filter is a problem, because ignoring
 * it would select too many items.
 */
function filterBy<Item>(
  fields: FilterFields<Item>,
  filters: readonly Filter[],
  fold: (value: string) => string = (value) => value,
): ((item: Item) => boolean) | RequestProblem {
  const checks: ((item: Item) => boolean)[] = []
  for (const [index, { field, values, filter_type }] of filters.entries()) {
    const read = Object.hasOwn(fields, field) ? fields[field] : undefined
    if (read === undefined)
      return { problem: `filters[${index}].field: must be one of ${oneOf(fields)}, not ${JSON.stringify(field)}` }
    const passes = Object.hasOwn(tests, filter_type) ? tests[filter_type] : undefined
    const problem = `filters[${index}].filter_type: must be one of ${oneOf(tests)}, not ${JSON.stringify(filter_type)}`
    if (passes === undefined) return { problem }
    const wanted = values.map(fold)
    checks.push((item) => passes(read(item).map(fold), wanted))
  }
  return (item) => checks.every((check) => check(item))
}

interface Stoppable {
  readonly requestId: string
  readonly tags: readonly string[]
}

/** The fields by which deployments are selected for a bulk stop. Their names are public facts. */
const bulkFields: FilterFields<Stoppable> = {
  request_id: ({ requestId }) => [requestId],
  deployment_tags: ({ tags }) => tags,
}

export const bulkFilter = (filters: readonly Filter[]): ((deployment: Stoppable) => boolean) | RequestProblem =>
  filterBy(bulkFields, filters)

/**
 * The fields by which locations are selected. Their names are public facts. `region` matches the location's region tag.
 * A location tag matches by its value, or as `key:value`.
 */
const placeFields: FilterFields<Place> = {
  city: ({ location }) => [location.city],
  country: ({ location }) => [location.country],
  continent: ({ location }) => [location.continent],
  region: ({ tags }) => tags.filter(({ key }) => key === 'region').map(({ value }) => value),
  administrative_division: ({ location }) => [location.administrative_division],
  location_tags: ({ tags }) => tags.flatMap(({ key, value }) => [value, `${key}:${value}`]),
}

/** Creates a predicate of locations from filters, without regard to letter case. */
export const placeFilter = (filters: readonly Filter[]): ((place: Place) => boolean) | RequestProblem =>
  filterBy(placeFields, filters, (value) => value.toLowerCase())

interface PolicyPlaces {
  readonly allows: (place: Place) => boolean
  /** The point near which deployments are placed. If undefined, deployments are spread over all allowed locations. */
  readonly near: Coordinates | undefined
}

/**
 * Parses a policy's filters, which select locations by location or tag. The specification does not show the form of a
 * Coordinates policy. Here its filters are on the fields latitude and longitude, each with one value in degrees (our
 * choice).
 */
export function policyPlaces({ type, filters }: Pick<PolicyRecord, 'type' | 'filters'>): PolicyPlaces | RequestProblem {
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
  const problem = 'data.filters: a Coordinates policy needs one value in degrees for each of latitude and longitude'
  return latitude === undefined || longitude === undefined ? { problem } : { allows, near: { latitude, longitude } }
}
