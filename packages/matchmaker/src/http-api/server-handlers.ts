import type { Clock } from '@muster/core/clock'
import type { Handlers } from '@muster/core/internal'
import { BEAT_MS, type JoinKeySet, LOST_AFTER_MS, type Registered, type ServerOrders } from '@muster/hosting/internal'
import type { TicketService } from '../commands.js'
import { type MatchCaller, notTheServer } from './callers.js'
import type { serverRoutes } from './server-routes.js'
import { type Dates, isoTime } from './ticket-views.js'

/** Largest body of a report in bytes: 64 matches with results, or 1,000 players with long ids. */
export const SERVER_BODY_BYTES = 1024 * 1024

/** Creates the handlers of game servers. The caller's token was checked before. */
export function createServerHandlers(
  service: Pick<TicketService, 'registerServer' | 'enrolServer' | 'reportServer' | 'waitForServerOrders' | 'dateOf'>,
  clock: Clock,
): Handlers<typeof serverRoutes, MatchCaller> {
  const tokenOf = ({ serverSecret }: MatchCaller): string => {
    if (serverSecret === undefined) throw notTheServer()
    return serverSecret
  }
  return {
    registerServer: async (body, { caller, address }) => {
      const { enrolmentKey } = caller
      const { name: _, address: __, ...registration } = body
      const registered: Registered & { readonly token?: string } =
        enrolmentKey === undefined
          ? await service.registerServer(tokenOf(caller), registration)
          : await service.enrolServer(enrolmentKey, body, address)
      return {
        ...registeredView(registered, service),
        ...(registered.token !== undefined && { token: registered.token }),
        beat_seconds: BEAT_MS / 1000,
        lost_after_seconds: LOST_AFTER_MS / 1000,
      }
    },
    reportServer: async ({ wait = 0, version, ...report }, { caller, request }) => {
      const token = tokenOf(caller)
      const orders = await service.reportServer(token, report)
      if (wait === 0 || version === undefined || orders.version !== version) return ordersView(orders)
      const { signal } = request
      const waitMs = wait * 1000
      if (orders.reason !== 'replaced')
        return ordersView(
          await service.waitForServerOrders(token, { instance: report.instance, version, waitMs, signal }),
        )
      // A replaced process gets no new orders, so it only waits for the time to pass.
      await clock.sleep(waitMs, signal)
      return ordersView(orders)
    },
  }
}

const ordersView = ({ version, want, reason, matches, listing, host, knock }: ServerOrders) => ({
  version,
  want,
  reason,
  knock,
  listing: listing && {
    session: listing.session,
    seats: listing.seats.map(({ id, playerId, team, groupId }) => ({
      seat_id: id,
      player_id: playerId,
      team_id: team === '' ? null : team,
      group_id: groupId ?? null,
    })),
  },
  host: host && { ...host, attributes: { ...host.attributes } },
  matches: matches.map(({ id, queue, teams, equality, intersection }) => ({
    id,
    profile: queue,
    teams: teams.map(({ name, players }) => ({
      name,
      players: players.map(({ id: playerId, ticketId, seatId, attributes }) => ({
        id: playerId,
        ticket_id: ticketId,
        seat_id: seatId,
        attributes,
      })),
    })),
    equality,
    intersection: Object.fromEntries(Object.entries(intersection).map(([key, values]) => [key, [...values]])),
  })),
})

/** Returns the public keys. They change only with the master secret, so clients may cache them for 5 minutes. */
export const joinKeysAnswer = (keys: JoinKeySet): Response =>
  new Response(JSON.stringify(keys), {
    headers: { 'content-type': 'application/json', 'cache-control': 'public, max-age=300' },
  })

const registeredView = ({ id, alg, key, retireAt, ...orders }: Registered, dates: Dates) => ({
  ...ordersView(orders),
  id,
  alg,
  key,
  retire_at: retireAt === undefined ? null : isoTime(dates.dateOf(retireAt)),
})
