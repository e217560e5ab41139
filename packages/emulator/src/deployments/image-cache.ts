import type { Place } from '../places.js'
import type { VersionRecord } from '../records.js'

/** Which places have which image on their disks. */
export interface ImageCache {
  has(version: VersionRecord, place: Place): boolean
  /** The image has been pulled there. */
  add(image: string, place: Place): void
}

/** registry/image:tag */
export const imageOf = ({ docker_repository, docker_image, docker_tag }: VersionRecord) =>
  `${docker_repository}/${docker_image}:${docker_tag}`

/**
 * An image is cached where it has run before. With `force_cache`, it is cached everywhere once
 * `everywhereAfterMs` (of the clock) have passed since the version was last changed.
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
