import { AlreadyTerminated, NotFound } from '@muster/core'
import type { Deployment } from '@muster/core/api'
import type { Clock } from '@muster/core/clock'
import type { DeploymentService } from '@muster/matchmaker'

export interface FakeServiceOptions {
  readonly clock: Clock
  /** Milliseconds from a create to READY. Default 5000. */
  readonly startMs?: number | undefined
  /** True if the service has no capacity. */
  readonly isFull?: (() => boolean) | undefined
}

const cities = [
  { city: 'Stockholm', country: 'Sweden', latitude: 59.3, longitude: 18.1 },
  { city: 'Frankfurt', country: 'Germany', latitude: 50.1, longitude: 8.7 },
  { city: 'Chicago', country: 'United States', latitude: 41.9, longitude: -87.6 },
  { city: 'São Paulo', country: 'Brazil', latitude: -23.5, longitude: -46.6 },
  { city: 'Tokyo', country: 'Japan', latitude: 35.7, longitude: 139.7 },
] as const

interface Standing {
  readonly requestId: string
  readonly tags: readonly string[]
  readonly readyAt: number
  readonly location: (typeof cities)[number]
}

const PAGE = 100

/** An in-memory service for a matchmaker: it responds immediately, and places servers in each city in turn. */
export function createFakeService({ clock, startMs = 5000, isFull = () => false }: FakeServiceOptions) {
  const standing = new Map<string, Standing>()
  /** Tokens of game servers, by their deployment. */
  const tokens = new Map<string, string>()
  let created = 0

  const find = (requestId: string): Standing => {
    const found = standing.get(requestId)
    if (found !== undefined) return found
    if (Number(requestId.slice(1)) <= created) throw new AlreadyTerminated('it was stopped')
    throw new NotFound('there is no such deployment')
  }
  const isReady = ({ readyAt }: Standing) => clock.now() >= readyAt
  const whereOf = ({ requestId, tags, location }: Standing) => ({
    request_id: requestId,
    fqdn: `${requestId}.example.com`,
    public_ip: '203.0.113.200',
    tags: [...tags],
    location,
  })

  const deployments: DeploymentService = {
    create: async ({ tags, environment_variables }) => {
      if (isFull()) throw new NotFound('no capacity')
      created += 1
      const requestId = `s${created}`
      const location = cities[created % cities.length] as (typeof cities)[number]
      const token = environment_variables?.find(({ key }) => key === 'MUSTER_SERVER_TOKEN')
      tokens.set(requestId, token?.value ?? '')
      standing.set(requestId, { requestId, tags: tags ?? [], readyAt: clock.now() + startMs, location })
      return { request_id: requestId }
    },
    get: async ({ request_id }) => {
      const one = standing.get(request_id)
      if (one === undefined && Number(request_id.slice(1)) <= created)
        return { request_id, current_status: 'Status.TERMINATED' }
      const found = find(request_id)
      return { ...whereOf(found), current_status: isReady(found) ? 'Status.READY' : 'Status.DEPLOYING' } as Deployment
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
      return {
        data: all.slice((page - 1) * PAGE, page * PAGE).map((one) => ({ ...whereOf(one), ready: isReady(one) })),
        total_count: all.length,
        pagination: { number: page, has_next: page * PAGE < all.length },
      }
    },
  }
  return {
    deployments,
    /** The deployment ends by itself. */
    crash: (requestId: string) => void standing.delete(requestId),
    tokenOf: (requestId: string) => tokens.get(requestId) ?? '',
    count: () => standing.size,
  }
}
