import type { Coordinates } from '@muster/core/api'
import { places, type Place } from '../places.js'
import type { VersionRecord } from '../records.js'
import type { ImageCache } from './image-cache.js'
import { nearest } from './nearest.js'
import type { Sites } from './sites.js'

/** Where a deployment wants to be. */
export interface Wish {
  readonly version: VersionRecord
  readonly users: readonly Coordinates[]
  /** Places that filters leave. */
  readonly allows: (place: Place) => boolean
  readonly cachedOnly: boolean
}

/** Mainland China is for versions made for it, and for no others (service-api, will_deploy_in_mainland_china). */
const isFor = (version: VersionRecord, place: Place) => place.mainlandChina === version.will_deploy_in_mainland_china

/** Places where the version could be deployed now: the right side of the border, and with room. */
export const placesFor = (version: VersionRecord, sites: Sites): readonly Place[] =>
  places.filter((place) => isFor(version, place) && sites.hasRoom(place, version.ports.length))

/** The nearest place that has room and all that is wished for; when it is full, the next nearest. */
export const choosePlace = (wish: Wish, sites: Sites, cache: ImageCache): Place | undefined =>
  nearest(
    placesFor(wish.version, sites).filter(
      (place) => wish.allows(place) && (!wish.cachedOnly || cache.has(wish.version, place)),
    ),
    wish.users,
  )
