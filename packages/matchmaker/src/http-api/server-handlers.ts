import { Problem } from '@muster/core/http'
import type { Handlers } from '@muster/core/internal'
import { BEAT_MS, type JoinKeySet, LOST_AFTER_MS, type Registered, type ServerOrders } from '@muster/servers/internal'
import { type MatchCaller, notTheServer } from './callers.js'
import { serverRoutes } from './server-routes.js'
import type { TicketService } from './service.js'
import { isoTime } from './ticket-views.js'

/** Largest body of a report in bytes: 64 matches with results, or 1,000 players with long ids. */
export const SERVER_BODY_BYTES = 1024 * 1024

/** Creates the handlers of game servers, whose token is known to be one. */
export function createServerHandlers(
  service: Pick<TicketService, 'registerServer' | 'reportServer' | 'waitForServerOrders'>,
): Handlers<typeof serverRoutes, MatchCaller> {
  const tokenOf = ({ serverSecret }: MatchCaller): string => {
    if (serverSecret === undefined) throw notTheServer()
    return serverSecret
  }
  return {
    registerServer: async (registration, { caller }) => ({
      ...registeredView(await service.registerServer(tokenOf(caller), registration)),
      beat_seconds: BEAT_MS / 1000,
      lost_after_seconds: LOST_AFTER_MS / 1000,
    }),
    reportServer: async ({ wait = 0, version, ...report }, { caller, request }) => {
      const token = tokenOf(caller)
      const orders = await service.reportServer(token, report)
      if (wait === 0 || version === undefined || orders.version !== version) return ordersView(orders)
      const { signal } = request
      return ordersView(await service.waitForServerOrders(token, { version, waitMs: wait * 1000, signal }))
    },
  }
}

const ordersView = ({ version, want, reason, matches }: ServerOrders) => ({
  version,
  want,
  reason,
  matches: matches.map(({ id, queue, teams, equality, intersection }) => ({
    id,
    profile: queue,
    teams: teams.map(({ name, players }) => ({
      name,
      players: players.map(({ id: playerId, ticketId, attributes }) => ({
        id: playerId,
        ticket_id: ticketId,
        attributes,
      })),
    })),
    equality,
    intersection: Object.fromEntries(Object.entries(intersection).map(([key, values]) => [key, [...values]])),
  })),
})

/** The public keys may be kept for some minutes: they change with the master secret alone. */
export const joinKeysAnswer = (keys: JoinKeySet): Response =>
  new Response(JSON.stringify(keys), {
    headers: { 'content-type': 'application/json', 'cache-control': 'public, max-age=300' },
  })

const registeredView = ({ id, alg, key, retireAt, ...orders }: Registered) => ({
  ...ordersView(orders),
  id,
  alg,
  key,
  retire_at: retireAt === undefined ? null : isoTime(retireAt),
})

/** Refuses everybody but game servers on their routes. @throws {Problem} 403 */
export function assertServer(route: string, { serverSecret }: MatchCaller): void {
  if (Object.hasOwn(serverRoutes, route) && serverSecret === undefined)
    throw new Problem(403, 'servers-only', 'This path is for game servers, which send MUSTER_SERVER_TOKEN.')
}
