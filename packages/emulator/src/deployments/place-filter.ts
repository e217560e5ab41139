// pure: filters that choose places (legacy deploy, fleet policies, relay sessions)
import type { Filter } from '@muster/core/api'
import type { Place } from '../places.js'
import { filterBy, type FilterFields } from './filters.js'
import type { Problem } from './problem.js'

/**
 * The names of the fields are public facts. `region` matches the place's region tag; a location tag matches by its
 * value or as `key:value`.
 */
const fields: FilterFields<Place> = {
  city: ({ location }) => [location.city],
  country: ({ location }) => [location.country],
  continent: ({ location }) => [location.continent],
  region: ({ tags }) => tags.filter(({ key }) => key === 'region').map(({ value }) => value),
  administrative_division: ({ location }) => [location.administrative_division],
  location_tags: ({ tags }) => tags.flatMap(({ key, value }) => [value, `${key}:${value}`]),
}

/** Makes a predicate of places from filters. Letter case does not matter. */
export const placeFilter = (filters: readonly Filter[]): ((place: Place) => boolean) | Problem =>
  filterBy(fields, filters, (value) => value.toLowerCase())
