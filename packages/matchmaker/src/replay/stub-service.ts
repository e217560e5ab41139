import { AlreadyTerminated, NotFound } from '@muster/core'
import type { Deployment } from '@muster/core/api'
import { createSets, type DeploymentQuery } from '@muster/core/internal'
import type { Clock } from '@muster/core/clock'
import type { DeploymentService } from '@muster/hosting/internal'

const PAGE = 100

interface StubServer {
  readonly requestId: string
  readonly tags: readonly string[]
  readonly readyAt: number
}

/**
 * Creates a service that completes a matchmaker's operations immediately, without limits, and has capacity for all
 * deployments.
 */
export function createStubService(clock: Clock, startMs: number): DeploymentService {
  /** Deployments that were not stopped, the oldest first. `standing` has all of them, `byTag` those of each tag. */
  const standing = new Map<string, StubServer>()
  const byTag = createSets<string, StubServer>()
  let created = 0

  const find = (requestId: string): StubServer => {
    const one = standing.get(requestId)
    if (one !== undefined) return one
    if (Number(requestId.slice(1)) <= created) throw new AlreadyTerminated(`deployment ${requestId} was stopped`)
    throw new NotFound(`there is no deployment ${requestId}`)
  }
  const isReady = ({ readyAt }: StubServer) => clock.now() >= readyAt
  const whereOf = ({ requestId, tags }: StubServer) => ({
    request_id: requestId,
    fqdn: `${requestId}.example.com`,
    tags: [...tags],
  })
  const statusOf = (one: StubServer): Deployment => ({
    ...whereOf(one),
    current_status: isReady(one) ? 'Status.READY' : 'Status.DEPLOYING',
  })

  return {
    create: async ({ tags = [] }) => {
      created += 1
      const one = { requestId: `r${created}`, tags, readyAt: clock.now() + startMs }
      standing.set(one.requestId, one)
      for (const tag of tags) byTag.add(tag, one)
      return { request_id: one.requestId }
    },
    get: async ({ request_id }) => {
      const one = standing.get(request_id)
      return one === undefined && Number(request_id.slice(1)) <= created
        ? { request_id, current_status: 'Status.TERMINATED' }
        : statusOf(find(request_id))
    },
    stop: async ({ request_id }) => {
      const one = find(request_id)
      standing.delete(request_id)
      for (const tag of one.tags) byTag.delete(tag, one)
      return { message: 'stopped' }
    },
    list: async ({ page = 1, query }) => {
      const tag = tagIn(query)
      const found = [...(tag === undefined ? standing.values() : byTag.of(tag))]
      const shown = found.toReversed().slice((page - 1) * PAGE, page * PAGE)
      return {
        data: shown.map((one) => ({ ...whereOf(one), ready: isReady(one) })),
        total_count: found.length,
        pagination: { number: page, has_next: page * PAGE < found.length },
      }
    },
  }
}

/** Returns the queried tag. A matchmaker queries one tag or none. */
const tagIn = (query: DeploymentQuery | undefined): string | undefined =>
  query?.filters?.flatMap(({ field, value }) => (field === 'tags' ? [value].flat().map(String) : []))[0]
