import { AlreadyTerminated, NotFound } from '@muster/core'
import type { Deployment } from '@muster/core/api'
import type { DeploymentQuery } from '@muster/core/internal'
import type { Clock } from '@muster/core/clock'
import { createNewestFirst, type DeploymentService } from '@muster/servers/internal'

const PAGE = 100

interface Standing {
  readonly requestId: string
  readonly tags: readonly string[]
  readonly readyAt: number
}

/**
 * A service that answers a matchmaker's operations at once, without limits, and has room for all deployments. A page of
 * the list takes no longer the more deployments there are.
 */
export function createStubService(clock: Clock, startMs: number): DeploymentService {
  /** Deployments that were not stopped. */
  const standing = new Map<string, Standing>()
  const ordered = createNewestFirst<Standing>()
  /** How many there are of each tag. */
  const tagged = new Map<string, number>()
  let created = 0

  const find = (requestId: string): Standing => {
    const one = standing.get(requestId)
    if (one !== undefined) return one
    if (Number(requestId.slice(1)) <= created) throw new AlreadyTerminated('it was stopped')
    throw new NotFound('there is no such deployment')
  }
  const count = (tags: readonly string[], change: number) => {
    for (const tag of tags) {
      const left = (tagged.get(tag) ?? 0) + change
      if (left === 0) tagged.delete(tag)
      else tagged.set(tag, left)
    }
  }
  const add = (one: Standing) => {
    standing.set(one.requestId, one)
    ordered.add(one)
    count(one.tags, 1)
  }
  const remove = (one: Standing) => {
    standing.delete(one.requestId)
    ordered.delete(one)
    count(one.tags, -1)
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
  const isWanted = ({ tags }: Standing, wanted: Wanted) => wanted.every((some) => tags.some((tag) => some.has(tag)))
  /** The number of one tag, which is all that a matchmaker queries, is known; anything else is counted. */
  const totalOf = (wanted: Wanted): number => {
    const [only = new Set(), ...others] = wanted
    if (only.size === 1 && others.length === 0) return tagged.get([...only][0] ?? '') ?? 0
    return [...standing.values()].filter((one) => isWanted(one, wanted)).length
  }
  const pageOf = (page: number, wanted: Wanted): Standing[] => {
    const shown: Standing[] = []
    let before = (page - 1) * PAGE
    for (const one of ordered.newestFirst()) {
      if (shown.length === PAGE) break
      if (!isWanted(one, wanted)) continue
      if (before > 0) before -= 1
      else shown.push(one)
    }
    return shown
  }

  return {
    create: async ({ tags }) => {
      created += 1
      const requestId = `r${created}`
      add({ requestId, tags: tags ?? [], readyAt: clock.now() + startMs })
      return { request_id: requestId }
    },
    get: async ({ request_id }) => {
      const one = standing.get(request_id)
      return one === undefined && Number(request_id.slice(1)) <= created
        ? { request_id, current_status: 'Status.TERMINATED' }
        : statusOf(find(request_id))
    },
    stop: async ({ request_id }) => {
      remove(find(request_id))
      return { message: 'stopped' }
    },
    list: async ({ page = 1, query }) => {
      const wanted = wantedBy(query)
      const total = totalOf(wanted)
      return {
        data: pageOf(page, wanted).map((one) => ({ ...whereOf(one), ready: isReady(one) })),
        total_count: total,
        pagination: { number: page, has_next: page * PAGE < total },
      }
    },
  }
}

/** Sets of tags, from each of which a deployment has one. */
type Wanted = readonly ReadonlySet<string>[]

const wantedBy = (query: DeploymentQuery | undefined): Wanted =>
  (query?.filters ?? []).flatMap(({ field, value }) => (field === 'tags' ? [new Set([value].flat().map(String))] : []))
