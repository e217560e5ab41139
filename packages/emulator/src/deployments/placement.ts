import type { Coordinates } from '@muster/core/api'
import { places, type Place } from '../places.js'
import type { VersionRecord } from '../records.js'
import type { ImageCache } from './image-cache.js'
import { nearest } from './nearest.js'
import type { Sites } from './sites.js'

/** What a deployment requires of its place. */
export interface Wish {
  readonly version: VersionRecord
  readonly users: readonly Coordinates[]
  /** Which places the filters allow. */
  readonly allows: (place: Place) => boolean
  readonly cachedOnly: boolean
}

/**
 * Whether the version may run at the place: mainland China is only for versions made for it, and they run nowhere else
 * (service-api, will_deploy_in_mainland_china).
 */
const isFor = (version: VersionRecord, place: Place) => place.mainlandChina === version.will_deploy_in_mainland_china

/** The places where the version could be deployed now: allowed for the version, and with free capacity. */
export const placesFor = (version: VersionRecord, sites: Sites): readonly Place[] =>
  places.filter((place) => isFor(version, place) && sites.hasRoom(place, version.ports.length))

/** The nearest place that has capacity and meets all requirements of the wish. */
export const choosePlace = (wish: Wish, sites: Sites, cache: ImageCache): Place | undefined =>
  nearest(
    placesFor(wish.version, sites).filter(
      (place) => wish.allows(place) && (!wish.cachedOnly || cache.has(wish.version, place)),
    ),
    wish.users,
  )
