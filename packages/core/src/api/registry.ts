import { z } from 'zod'
import { operation } from '../operation.js'
import { decimal, flag, maybe, segment, text, timestampB, type Maybe, type TimestampB } from './fields.js'

export interface RegistryArtifact {
  readonly artifact_deleted?: Maybe<boolean>
  readonly remaining_tags?: Maybe<readonly string[]>
  readonly image_hash?: Maybe<string>
  readonly size_mb?: Maybe<number>
}

/** A tag of an image in the container registry (service-api, Registry tag entry). */
export interface RegistryTag {
  readonly tag: string
  /** Format B. */
  readonly last_push_at?: Maybe<TimestampB>
  readonly artifact?: Maybe<RegistryArtifact>
}

export interface RegistryTagList {
  readonly data: readonly RegistryTag[]
}

export interface RegistryTagDeleted {
  readonly artifact?: Maybe<RegistryArtifact>
  readonly deleted_tag?: Maybe<string>
}

export interface ImageName {
  /** With its namespace, e.g. `studio/server`; the slash is encoded on the way. */
  readonly image_name: string
}

export interface ImageTag extends ImageName {
  readonly tag_name: string
}

export const RegistryArtifact: z.ZodType<RegistryArtifact> = z.looseObject({
  artifact_deleted: maybe(flag),
  remaining_tags: maybe(z.array(text)),
  image_hash: maybe(text),
  size_mb: maybe(decimal),
})

export const RegistryTag: z.ZodType<RegistryTag> = z.looseObject({
  tag: text,
  last_push_at: maybe(timestampB),
  artifact: maybe(RegistryArtifact),
})

const RegistryTagList: z.ZodType<RegistryTagList> = z.looseObject({ data: z.array(RegistryTag) })
const RegistryTagDeleted: z.ZodType<RegistryTagDeleted> = z.looseObject({
  artifact: maybe(RegistryArtifact),
  deleted_tag: maybe(text),
})
const ImageName: z.ZodType<ImageName> = z.strictObject({ image_name: segment })
const ImageTag: z.ZodType<ImageTag> = z.strictObject({ image_name: segment, tag_name: segment })

export const registry = {
  listTags: operation('GET /v1/container-registry/images/{image_name}/tags', {
    summary: 'List the tags of an image',
    input: ImageName,
    output: RegistryTagList,
    errors: [401, 404, 500],
  }),
  deleteTag: operation('DELETE /v1/container-registry/images/{image_name}/tags/{tag_name}', {
    summary: 'Delete one tag of an image',
    input: ImageTag,
    output: RegistryTagDeleted,
    errors: [401, 404, 500],
  }),
} as const
