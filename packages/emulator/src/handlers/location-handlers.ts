import type { ListedLocation } from '@muster/core/api'
import type { ListLocations } from '@muster/core/internal'
import { fail, type Failure, type HandlersOf, ok, paged } from './handler.js'
import { places, type Place } from '../places.js'
import type { World } from '../world.js'
import { findVersion, isFailure } from './lookup.js'

/**
 * Returns a location as the list shows it. Coordinates are strings in this list, as sampled, and numbers everywhere
 * else.
 */
const view = ({ location, type, tags }: Place, withTags: boolean): ListedLocation => ({
  ...location,
  latitude: String(location.latitude),
  longitude: String(location.longitude),
  type,
  ...(withTags && { tags }),
})

interface LocationChoice {
  readonly places: readonly Place[]
  readonly messages: readonly string[]
}

/**
 * Returns the locations for the list. With an application and a version, returns only those with capacity for the
 * version. An unknown name is answered by 400, because the specification declares no 404 for this list.
 */
function withCapacity(world: World, { app, version }: ListLocations): LocationChoice | Failure<400> {
  if (app === undefined && version === undefined) return { places, messages: [] }
  if (app === undefined || version === undefined) {
    return { places, messages: ['capacity is only considered with both app and version'] }
  }
  const found = findVersion(world, { app_name: app, version_name: version })
  if (isFailure(found)) return fail(400, found.body.message)
  const free = world.deployments.placesWithCapacity(found)
  const left = places.length - free.length
  return {
    places: free,
    messages: left === 0 ? [] : [`${left} locations without capacity for this version are left out`],
  }
}

export const locations: HandlersOf<'locations'> = {
  list: ({ type, tags = false, ...input }, { world }) => {
    const choice = withCapacity(world, input)
    if (isFailure(choice)) return choice
    const ofType = choice.places.filter((place) => type === undefined || place.type === type)
    const { items, total, pagination } = paged(ofType, input, world.pageSizes)
    return ok({
      locations: items.map((place) => view(place, tags)),
      messages: choice.messages,
      total_count: total,
      pagination,
    })
  },

  beacons: async (wanted, { world }) => {
    const { items, total } = paged(await world.beacons.list(), wanted, world.pageSizes)
    return ok({ locations: items, count: total })
  },
}
