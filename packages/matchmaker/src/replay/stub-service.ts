import { AlreadyTerminated, NotFound } from '@muster/core'
import type { Deployment } from '@muster/core/api'
import type { Clock } from '@muster/core/clock'
import type { DeploymentService } from '../servers/records/deployment-service.js'

const PAGE = 100

interface Standing {
  readonly requestId: string
  readonly tags: readonly string[]
  readonly readyAt: number
}

/** A service that answers a matchmaker's operations at once, without limits, and has room for all deployments. */
export function createStubService(clock: Clock, startMs: number): DeploymentService {
  /** Deployments that were not stopped, in the order of their creation. */
  const standing = new Map<string, Standing>()
  let created = 0

  const find = (requestId: string): Standing => {
    const one = standing.get(requestId)
    if (one !== undefined) return one
    if (Number(requestId.slice(1)) <= created) throw new AlreadyTerminated('it was stopped')
    throw new NotFound('there is no such deployment')
  }
  const isReady = ({ readyAt }: Standing) => clock.now() >= readyAt
  const whereOf = ({ requestId, tags }: Standing) => ({
    request_id: requestId,
    fqdn: `${requestId}.example.com`,
    tags: [...tags],
  })
  const statusOf = (one: Standing): Deployment => ({
    ...whereOf(one),
    current_status: isReady(one) ? 'Status.READY' : 'Status.DEPLOYING',
  })

  return {
    create: async ({ tags = [] }) => {
      created += 1
      const requestId = `r${created}`
      standing.set(requestId, { requestId, tags: tags ?? [], readyAt: clock.now() + startMs })
      return { request_id: requestId }
    },
    get: async ({ request_id }) => {
      const one = standing.get(request_id)
      return one === undefined && Number(request_id.slice(1)) <= created
        ? { request_id, current_status: 'Status.TERMINATED' }
        : statusOf(find(request_id))
    },
    stop: async ({ request_id }) => {
      standing.delete(find(request_id).requestId)
      return { message: 'stopped' }
    },
    list: async ({ page = 1, query }) => {
      const wanted = (query?.filters ?? []).flatMap(({ field, value }) =>
        field === 'tags' ? [[value].flat().map(String)] : [],
      )
      const isWanted = ({ tags }: Standing) => wanted.every((some) => some.some((tag) => tags.includes(tag)))
      const all = [...standing.values()].filter(isWanted).toReversed()
      const shown = all.slice((page - 1) * PAGE, page * PAGE)
      return {
        data: shown.map((one) => ({ ...whereOf(one), ready: isReady(one) })),
        total_count: all.length,
        pagination: { number: page, has_next: page * PAGE < all.length },
      }
    },
  }
}
