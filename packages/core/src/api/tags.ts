import { z } from 'zod'
import { operation } from '../operation.js'
import {
  answer,
  type Counted,
  counted,
  input,
  integer,
  maybe,
  type Maybe,
  page,
  type PageInput,
  segment,
  type Stamped,
  stamps,
  tagName,
  text,
} from './fields.js'

/**
 * A tag of a deployment. It is not injected into a running container, and deleting it does not remove it from the
 * container's environment (service-api, Deployment tag).
 */
export interface DeploymentTag extends Stamped {
  /** Name of the tag. */
  readonly name: string
}

/** The tags to list, and their deployment. */
export interface ListDeploymentTags extends TaggedDeployment, PageInput {}

/** The tags of a deployment. */
export interface DeploymentTagList extends Counted {
  /** The entries of this page. */
  readonly tags: readonly DeploymentTag[]
  /** Number of all entries. */
  readonly count?: Maybe<number>
}

/** Names the deployment of the tags. */
export interface TaggedDeployment {
  /** The deployment's id. */
  readonly request_id: string
}

/** Names a tag of a deployment. */
export interface DeploymentTagName extends TaggedDeployment {
  /** Name of the tag. */
  readonly tag_name: string
}

/** A tag to add to a deployment. */
export interface CreateDeploymentTag extends TaggedDeployment {
  /** The tag, 1 to 40 characters (public fact). */
  readonly name: string
}

/** A new name for a tag of a deployment. */
export interface RenameDeploymentTag extends DeploymentTagName {
  /** The new name, 1 to 40 characters (public fact). */
  readonly name: string
}

export const DeploymentTag = answer<DeploymentTag>('DeploymentTag', {
  name: text,
  ...stamps,
})
const DeploymentTagList = answer<DeploymentTagList>('DeploymentTagList', {
  tags: z.array(DeploymentTag),
  count: maybe(integer),
  ...counted,
})
const ListDeploymentTags = input<ListDeploymentTags>('ListDeploymentTags', { request_id: segment, ...page })
const DeploymentTagName = input<DeploymentTagName>('DeploymentTagName', { request_id: segment, tag_name: segment })
const CreateDeploymentTag = input<CreateDeploymentTag>('CreateDeploymentTag', { request_id: segment, name: tagName })
const RenameDeploymentTag = input<RenameDeploymentTag>('RenameDeploymentTag', {
  request_id: segment,
  tag_name: segment,
  name: tagName,
})

export const tags = {
  /**
   * List the tags of a deployment.
   * Route: `GET /v1/deployments/{request_id}/tags`.
   * Limit: none documented. Errors: `NotFound` (404).
   * Source: service-api, Deployment tags.
   */
  list: operation('GET /v1/deployments/{request_id}/tags', {
    summary: 'List the tags of a deployment',
    input: ListDeploymentTags,
    output: DeploymentTagList,
    errors: [400, 401, 404, 500],
    items: 'tags',
  }),
  /**
   * Read a tag of a deployment.
   * Route: `GET /v1/deployments/{request_id}/tags/{tag_name}`.
   * Limit: none documented. Errors: `NotFound` (404).
   * Source: service-api, Deployment tags.
   */
  get: operation('GET /v1/deployments/{request_id}/tags/{tag_name}', {
    summary: 'Read a tag of a deployment',
    input: DeploymentTagName,
    output: DeploymentTag,
    errors: [400, 401, 404, 500],
  }),
  /**
   * Tag a deployment.
   * Route: `POST /v1/deployments/{request_id}/tags`.
   * Limit: none documented. Errors: `NotFound` (404), `Conflict` (409).
   * Source: service-api, Deployment tags.
   */
  create: operation('POST /v1/deployments/{request_id}/tags', {
    summary: 'Tag a deployment',
    input: CreateDeploymentTag,
    output: DeploymentTag,
    errors: [400, 401, 404, 409, 500],
  }),
  /**
   * Rename a tag of a deployment.
   * Route: `PATCH /v1/deployments/{request_id}/tags/{tag_name}`.
   * Limit: none documented. Errors: `NotFound` (404), `Conflict` (409).
   * Source: service-api, Deployment tags.
   */
  update: operation('PATCH /v1/deployments/{request_id}/tags/{tag_name}', {
    summary: 'Rename a tag of a deployment',
    input: RenameDeploymentTag,
    output: DeploymentTag,
    errors: [400, 401, 404, 409, 500],
  }),
  /**
   * Remove a tag from a deployment.
   * Route: `DELETE /v1/deployments/{request_id}/tags/{tag_name}`.
   * Limit: none documented. Errors: `NotFound` (404).
   * Source: service-api, Deployment tags.
   */
  delete: operation('DELETE /v1/deployments/{request_id}/tags/{tag_name}', {
    summary: 'Remove a tag from a deployment',
    input: DeploymentTagName,
    errors: [400, 401, 404, 500],
  }),
} as const
