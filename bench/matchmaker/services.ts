import { createMatchmaker, type DeploymentService, type Matchmaker, type MatchmakerOptions } from '@muster/matchmaker'

/**
 * A service that accepts creates and never answers. What happens after a create is measured elsewhere, at the service's
 * own rate.
 */
export const unansweringService: DeploymentService = {
  create: () => new Promise(() => {}),
  get: () => new Promise(() => {}),
  stop: () => new Promise(() => {}),
  list: async () => ({ data: [], total_count: 0, pagination: { number: 1, has_next: false } }),
}

/** Creates a service that answers at once, and reports each server as READY as soon as it is created. */
export function createAnsweringService() {
  const standing = new Set<string>()
  let created = 0
  let tell: (requestId: string) => void = () => {}
  const service: DeploymentService = {
    create: async () => {
      created += 1
      const requestId = `r${created}`
      standing.add(requestId)
      queueMicrotask(() => tell(requestId))
      return { request_id: requestId }
    },
    get: async ({ request_id }) => ({
      request_id,
      current_status: standing.has(request_id) ? 'Status.READY' : 'Status.TERMINATED',
      fqdn: 'server.example.com',
      ports: {
        game: { internal: 7777, external: 30_000, protocol: 'UDP', name: 'game', link: 'server.example.com:30000' },
      },
    }),
    stop: async ({ request_id }) => {
      standing.delete(request_id)
      return { message: 'stopped' }
    },
    list: async () => ({ data: [], total_count: 0, pagination: { number: 1, has_next: false } }),
  }
  return { service, onReady: (listener: (requestId: string) => void) => void (tell = listener) }
}

export interface ServedOptions extends Omit<MatchmakerOptions, 'deployments'> {
  /** The service. Default: one that answers at once. */
  readonly deployments?: DeploymentService | undefined
}

/**
 * Creates a matchmaker without limits on servers. Its servers run at once, and are stopped as soon as players are sent
 * to them.
 */
export function createServedMatchmaker({ deployments, ...options }: ServedOptions): Matchmaker {
  const { service, onReady } = createAnsweringService()
  const bounds = { maxServers: Infinity, maxStarting: Infinity }
  const matchmaker = createMatchmaker({ deployments: deployments ?? service, ...bounds, ...options })
  onReady((requestId) => matchmaker.hint(requestId))
  matchmaker.on('serverAssigned', ({ matchId }) => void matchmaker.stopMatch(matchId))
  matchmaker.on('problem', ({ error }) => {
    throw error
  })
  return matchmaker
}
