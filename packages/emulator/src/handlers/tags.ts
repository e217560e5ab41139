import type { DeploymentTag } from '@muster/core/api'
import type { DeploymentRecord, TagRecord } from '../deployments/deployment-record.js'
import { formatA } from '../timestamps.js'
import type { World } from '../world.js'
import { findDeployment } from './find-deployment.js'
import { fail, noContent, ok, type Failure, type HandlersOf } from './handler.js'
import { isFailure, unknown } from './lookup.js'
import { onePage } from './one-page.js'

const view = ({ name, createdAt, updatedAt }: TagRecord): DeploymentTag => ({
  name,
  create_time: formatA(createdAt),
  last_updated: formatA(updatedAt),
})

const taken = (name: string) => fail(409, `the deployment is already tagged ${JSON.stringify(name)}`)

interface Found {
  readonly deployment: DeploymentRecord
  readonly tag: TagRecord
}

function findTag(
  world: World,
  { request_id, tag_name }: { readonly request_id: string; readonly tag_name: string },
): Found | Failure<404> {
  const deployment = findDeployment(world, request_id, 404)
  if (isFailure(deployment)) return deployment
  const tag = deployment.tags.get(tag_name)
  return tag === undefined ? unknown('tag of this deployment', tag_name) : { deployment, tag }
}

/**
 * The handlers of deployments' tags. A change of tags does not change the variables of a running container
 * (service-api, Deployment tag).
 */
export const tags: HandlersOf<'tags'> = {
  list: ({ request_id }, { world }) => {
    const deployment = findDeployment(world, request_id, 404)
    if (isFailure(deployment)) return deployment
    const { items, total, pagination } = onePage(deployment.tags.values())
    return ok({ tags: items.map(view), count: total, pagination })
  },

  get: (input, { world }) => {
    const found = findTag(world, input)
    return isFailure(found) ? found : ok(view(found.tag))
  },

  create: ({ request_id, name }, { world }) => {
    const deployment = findDeployment(world, request_id, 404)
    if (isFailure(deployment)) return deployment
    const now = world.clock.now()
    const tag: TagRecord = { name, createdAt: now, updatedAt: now }
    return deployment.tags.add(tag) ? ok(view(tag)) : taken(name)
  },

  update: ({ name, ...input }, { world }) => {
    const found = findTag(world, input)
    if (isFailure(found)) return found
    const { deployment, tag } = found
    if (!deployment.tags.rename(tag, name)) return taken(name)
    tag.updatedAt = world.clock.now()
    return ok(view(tag))
  },

  delete: (input, { world }) => {
    const found = findTag(world, input)
    if (isFailure(found)) return found
    found.deployment.tags.delete(found.tag)
    return noContent()
  },
}
