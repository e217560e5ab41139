import type { ImageRecord } from '../records.js'
import { formatB } from '../timestamps.js'
import { ok, type HandlersOf } from './handler.js'
import { unknown } from './lookup.js'

const tagsWithHash = (image: ImageRecord, hash: string) =>
  Array.from(image.tags).flatMap(([tag, entry]) => (entry.hash === hash ? [tag] : []))

/**
 * The handlers of the registry. Tags with one hash are one artifact, which is deleted with its last tag. An image
 * without tags stays, with an empty list of tags.
 */
export const registry: HandlersOf<'registry'> = {
  listTags: ({ image_name }, { world }) => {
    const image = world.registry.get(image_name)
    if (image === undefined) return unknown('image', image_name)
    return ok({
      data: Array.from(image.tags, ([tag, { hash, sizeMb, pushedAt }]) => ({
        tag,
        last_push_at: formatB(pushedAt),
        artifact: {
          artifact_deleted: false,
          remaining_tags: tagsWithHash(image, hash),
          image_hash: hash,
          size_mb: sizeMb,
        },
      })),
    })
  },

  deleteTag: ({ image_name, tag_name }, { world }) => {
    const image = world.registry.get(image_name)
    if (image === undefined) return unknown('image', image_name)
    const entry = image.tags.get(tag_name)
    if (entry === undefined) return unknown(`tag of ${JSON.stringify(image_name)}`, tag_name)
    image.tags.delete(tag_name)
    const remaining = tagsWithHash(image, entry.hash)
    return ok({
      artifact: {
        artifact_deleted: remaining.length === 0,
        remaining_tags: remaining,
        image_hash: entry.hash,
        size_mb: entry.sizeMb,
      },
      deleted_tag: tag_name,
    })
  },
}
