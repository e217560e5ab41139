import type { Place } from '../places.js'
import type { VersionRecord } from '../records.js'

/** Records which images each place has cached. */
export interface ImageCache {
  has(version: VersionRecord, place: Place): boolean
  /** Records that the image has been pulled at the place. */
  add(image: string, place: Place): void
}

/** registry/image:tag */
export const imageOf = ({ docker_repository, docker_image, docker_tag }: VersionRecord) =>
  `${docker_repository}/${docker_image}:${docker_tag}`

/**
 * Creates the image cache. A place has cached the images that ran there. With `force_cache`, an image is cached at
 * every place once `everywhereAfterMs` (of the clock) have passed since the version's last change.
 */
export function createImageCache(now: () => number, everywhereAfterMs: number): ImageCache {
  const pulled = new Map<string, Set<string>>()
  return {
    has: (version, place) =>
      (version.force_cache && now() - version.updatedAt >= everywhereAfterMs) ||
      pulled.get(imageOf(version))?.has(place.id) === true,
    add: (image, place) => {
      const there = pulled.get(image) ?? new Set()
      pulled.set(image, there.add(place.id))
    },
  }
}
