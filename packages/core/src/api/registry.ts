import { z } from 'zod'
import { operation } from '../operation.js'
import {
  answer,
  decimal,
  flag,
  input,
  maybe,
  type Maybe,
  page,
  type PageInput,
  segment,
  text,
  timestampB,
  type TimestampB,
} from './fields.js'

/** The image behind a tag. */
export interface RegistryArtifact {
  /** Whether the image is deleted. */
  readonly artifact_deleted?: Maybe<boolean>
  /** Remaining tags of the image. */
  readonly remaining_tags?: Maybe<readonly string[]>
  /** Digest of the image; its form is not documented. */
  readonly image_hash?: Maybe<string>
  /** Size of the image in megabytes. */
  readonly size_mb?: Maybe<number>
}

/** A tag of an image in the container registry (service-api, Registry tag entry). */
export interface RegistryTag {
  /** The tag's name. */
  readonly tag: string
  /** When the tag was last pushed, in format B. */
  readonly last_push_at?: Maybe<TimestampB>
  /** The image to which the tag points. */
  readonly artifact?: Maybe<RegistryArtifact>
}

/** The tags to list. */
export interface ListImageTags extends ImageName, PageInput {}

/** The tags of an image. */
export interface RegistryTagList {
  /** The entries of this page: all of them, unless the service pages the list (public fact). */
  readonly data: readonly RegistryTag[]
}

/** The image and tag after a deletion. */
export interface RegistryTagDeleted {
  /** The image to which the tag pointed. */
  readonly artifact?: Maybe<RegistryArtifact>
  /** The tag's name. */
  readonly deleted_tag?: Maybe<string>
}

/** Names an image in the container registry. */
export interface ImageName {
  /** Name of the image with its namespace, e.g. `studio/server`. The slash is encoded in the path. */
  readonly image_name: string
}

/** Names a tag of an image. */
export interface ImageTag extends ImageName {
  /** The tag's name. */
  readonly tag_name: string
}

export const RegistryArtifact = answer<RegistryArtifact>('RegistryArtifact', {
  artifact_deleted: maybe(flag),
  remaining_tags: maybe(z.array(text)),
  image_hash: maybe(text),
  size_mb: maybe(decimal),
})

export const RegistryTag = answer<RegistryTag>('RegistryTag', {
  tag: text,
  last_push_at: maybe(timestampB),
  artifact: maybe(RegistryArtifact),
})

const RegistryTagList = answer<RegistryTagList>('RegistryTagList', { data: z.array(RegistryTag) })
const RegistryTagDeleted = answer<RegistryTagDeleted>('RegistryTagDeleted', {
  artifact: maybe(RegistryArtifact),
  deleted_tag: maybe(text),
})
const ListImageTags = input<ListImageTags>('ListImageTags', { image_name: segment, ...page })
const ImageTag = input<ImageTag>('ImageTag', { image_name: segment, tag_name: segment })

export const registry = {
  /**
   * List the tags of an image.
   * Route: `GET /v1/container-registry/images/{image_name}/tags`.
   * Limit: none documented. Errors: `NotFound` (404).
   * Source: service-api, Container registry.
   */
  listTags: operation('GET /v1/container-registry/images/{image_name}/tags', {
    summary: 'List the tags of an image',
    input: ListImageTags,
    output: RegistryTagList,
    errors: [401, 404, 500],
    items: 'data',
  }),
  /**
   * Delete one tag of an image.
   * Route: `DELETE /v1/container-registry/images/{image_name}/tags/{tag_name}`.
   * Limit: none documented. Errors: `NotFound` (404).
   * Source: service-api, Container registry.
   */
  deleteTag: operation('DELETE /v1/container-registry/images/{image_name}/tags/{tag_name}', {
    summary: 'Delete one tag of an image',
    input: ImageTag,
    output: RegistryTagDeleted,
    errors: [401, 404, 500],
  }),
} as const
