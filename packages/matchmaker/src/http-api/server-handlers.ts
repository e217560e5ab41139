import type { Clock } from '@muster/core/clock'
import { Problem } from '@muster/core/http'
import { eventStream, type Handlers, type StreamEvent } from '@muster/core/internal'
import {
  BEAT_MS,
  createServerReader,
  type JoinKeySet,
  type ListedServer,
  LOST_AFTER_MS,
  type PageChange,
  pageOf,
  type PingOf,
  readQuery,
  type Registered,
  SeatRefused,
  type SeatsGranted,
  type ServerReader,
  type ServerOrders,
  type ServerQuery,
} from '@muster/hosting/internal'
import { UnknownServer } from '../errors.js'
import { type Locate, placeOf } from '../locate/mmdb-locate.js'
import { isPlayerId, NO_PLAYER_ID } from '../tickets/index.js'
import { isBackend, type MatchCaller, notTheServer, playerOf } from './callers.js'
import type { OpenWaits } from './follow-ticket.js'
import { type Groups, memberProblem } from './groups.js'
import { type Beacons, createPings } from './latencies.js'
import { type ListedServerView, type seatRoutes, serverRoutes } from './server-routes.js'
import type { TicketService } from './service.js'
import { type Dates, isoTime, seatView } from './ticket-views.js'

/** Largest body of a report in bytes: 64 matches with results, or 1,000 players with long ids. */
export const SERVER_BODY_BYTES = 1024 * 1024

/** Creates the handlers of game servers, whose token is known to be one. */
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
      // A process that was replaced gets no other orders. It waits apart from the one that has replaced it.
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

/** The public keys may be kept for some minutes: they change with the master secret alone. */
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

/** Refuses everybody but game servers on their routes. @throws {Problem} 403 */
export function assertServer(route: string, { serverSecret, enrolmentKey }: MatchCaller): void {
  if (Object.hasOwn(serverRoutes, route) && serverSecret === undefined && enrolmentKey === undefined)
    throw new Problem(403, 'servers-only', 'This path is for game servers, which send MUSTER_SERVER_TOKEN.')
}

interface SeatHandlersOptions {
  readonly service: Pick<
    TicketService,
    'browserTerms' | 'listedServers' | 'holdSeats' | 'followSeat' | 'releaseSeat' | 'startServer' | 'dateOf'
  >
  readonly groups: Pick<Groups, 'read'>
  readonly waits: OpenWaits
  readonly beacons: Pick<Beacons, 'places'> | undefined
  readonly locate: Locate | undefined
  readonly clock: Clock
  readonly onError: (error: unknown) => void
}

/** Servers that a quick join tries in turn: each may have been filled since the list was made (our choice). */
const MOST_TRIES = 5

type Exchange = Parameters<Handlers<typeof seatRoutes, MatchCaller>['holdSeat']>[1]
interface Party {
  readonly group_id?: string | undefined
  readonly player_ids?: readonly string[] | undefined
}

/** Creates the handlers by which players find servers and take seats. */
export function createSeatHandlers(options: SeatHandlersOptions): Handlers<typeof seatRoutes, MatchCaller> {
  const { service, groups, waits, beacons, locate, clock, onError } = options
  let begun: ServerReader | undefined
  /** Nobody reads the list before the first one who looks for servers. */
  const list = (): ServerReader =>
    (begun ??= createServerReader({
      read: (known) => service.listedServers(known),
      browser: service.browserTerms(),
      clock,
      onError,
    }))
  const pingsFor = createPings(beacons, locate)

  /** @throws {Problem} naming the field and the column */
  const read = (query: ServerQuery) => {
    const found = readQuery(service.browserTerms(), query)
    if (!('message' in found)) return found
    const { field, column, message } = found
    throw new Problem(400, 'filter', `${field}: column ${column}: ${message}`, { field, members: { column } })
  }
  const addressOf = ({ caller, address }: Exchange) => (isBackend(caller) ? undefined : address)

  /** The players who come: the caller, or their group; to a backend, those whom it names. @throws {Problem} */
  const playersOf = async (party: Party, exchange: Exchange): Promise<readonly string[]> => {
    const ids = await namedBy(party, exchange)
    if (ids.every(isPlayerId)) return ids
    const field = party.player_ids === undefined ? 'player_id' : 'player_ids'
    throw new Problem(400, 'invalid-input', `${field}: ${NO_PLAYER_ID}`, { field })
  }
  const namedBy = async ({ group_id, player_ids }: Party, { caller }: Exchange): Promise<readonly string[]> => {
    const own = playerOf(caller)
    if (own !== undefined && player_ids !== undefined)
      throw new Problem(403, 'backend-only', 'Only a trusted backend names players.', { field: 'player_ids' })
    if (group_id !== undefined) {
      const { members } = await groups.read(group_id, caller)
      const ids = members.map(({ player_id }) => player_id)
      return own === undefined ? ids : [own, ...ids.filter((id) => id !== own)]
    }
    if (own !== undefined) return [own]
    return [...new Set(player_ids)]
  }
  const seated = async (body: Party, exchange: Exchange) => {
    const ids = await playersOf(body, exchange)
    if (ids.length > 0) return ids
    throw new Problem(400, 'invalid-input', 'player_ids: a backend names the players', { field: 'player_ids' })
  }

  const seatsView = ({ seats }: Pick<SeatsGranted, 'seats'>, { caller }: Exchange) => {
    const views = seats.map((seat) => seatView(seat, service))
    const [first] = views
    if (first === undefined) throw new Error('a seat was granted to nobody')
    return isBackend(caller) ? { ...first, party: views } : first
  }
  const answer = (granted: SeatsGranted, exchange: Exchange, status = granted.isNew ? 201 : 200) =>
    Response.json(seatsView(granted, exchange), { status })

  /** The caller hears nothing of other members of the party, but that one of them cannot come. */
  const forParty = async <Result>({ caller }: Exchange, act: () => Result | Promise<Result>): Promise<Result> => {
    try {
      return await act()
    } catch (error) {
      throw (isBackend(caller) ? undefined : memberProblem(error, caller.id, service)) ?? error
    }
  }

  const startServer = async (
    { pool, name, password, attributes = {}, group_id }: StartBody & Party,
    playerIds: readonly string[],
    exchange: Exchange,
    mayShare?: true,
  ) => {
    const near = await placeOf(addressOf(exchange), locate)
    const by = playerOf(exchange.caller)
    const request = { pool, playerIds, groupId: group_id, name, password, attributes, near, mayShare, by }
    return forParty(exchange, () => service.startServer(request))
  }

  const shownTo = async ({ latency, ...query }: Shown, exchange: Exchange) => {
    const pings = await pingsFor({ reported: latenciesIn(latency), ip: addressOf(exchange) })
    return { query: read(query), ...pings, key: JSON.stringify([query, pings.key]) }
  }

  return {
    listServers: async (input, exchange) => {
      const { query, pingOf } = await shownTo(input, exchange)
      await list().fresh()
      const { servers, total, next } = list().page(query, pingOf)
      return { servers: servers.map((server) => serverView(server, pingOf)), total, next: next ?? null }
    },
    serverEvents: async (input, exchange) => {
      const page = await shownTo(input, exchange)
      const { caller, request } = exchange
      // Read before the stream begins, so that a failure is an answer.
      await list().fresh()
      let endStream = () => {}
      const leave = waits.enter(caller, () => endStream())
      return eventStream(
        (closed, end) => {
          endStream = end
          closed.addEventListener('abort', leave, { once: true })
          return followed(list().follow, page, closed, leave)
        },
        { clock, signal: request.signal },
      )
    },
    getServer: async ({ server_id }, exchange) => {
      await list().fresh()
      const server = list().find(server_id)
      if (server === undefined)
        throw new Problem(404, 'no-such-server', 'There is no such server, or it is not listed any more.')
      const { pingOf } = await pingsFor({ reported: {}, ip: addressOf(exchange) })
      return serverView(server, pingOf)
    },

    holdSeat: async ({ server_id, team, password, build, ...party }, exchange) => {
      const playerIds = await seated(party, exchange)
      const by = playerOf(exchange.caller)
      const address = addressOf(exchange)
      const asked = { serverId: server_id, playerIds, team, password, build, groupId: party.group_id }
      const request = { ...asked, by, address }
      return answer(await forParty(exchange, () => service.holdSeats(request)), exchange)
    },

    quickJoin: async ({ latencies = {}, start, team, build, group_id, player_ids, ...query }, exchange) => {
      const party = { group_id, player_ids }
      const playerIds = await seated(party, exchange)
      const { filter, ...sorted } = read({ ...query, limit: MOST_TRIES })
      const { pingOf } = await pingsFor({ reported: latencies, ip: addressOf(exchange) })
      const fits = (server: ListedServer) =>
        server.isOpen &&
        !server.hasPassword &&
        server.seats.free >= playerIds.length &&
        (team === undefined || server.teams.some(({ name, free }) => name === team && free >= playerIds.length)) &&
        (build === undefined || server.build === undefined || server.build === build) &&
        filter(server, pingOf)
      await list().fresh()
      const page = pageOf(list().all(), { ...sorted, filter: fits }, pingOf)
      for (const { id: serverId } of page.servers) {
        const by = playerOf(exchange.caller)
        const request = { serverId, playerIds, team, build, groupId: group_id, by }
        try {
          return answer(await forParty(exchange, () => service.holdSeats(request)), exchange)
        } catch (error) {
          // It has changed since the list was made.
          if (!isPassing(error)) throw error
        }
      }
      if (start === undefined)
        throw new Problem(409, 'no-server-fits', 'No server that fits has free seats. Ask for less, or start one.')
      const wanted = start === true ? {} : start
      // A player who names the server, or chooses a password, wants one of their own.
      const mayShare = wanted.name === undefined && wanted.password === undefined ? true : undefined
      const granted = await startServer({ ...wanted, group_id }, playerIds, exchange, mayShare)
      return answer(granted, exchange, granted.seats[0]?.state === 'starting' ? 202 : undefined)
    },

    startServer: async ({ group_id, player_ids, ...body }, exchange) => {
      const playerIds = await playersOf({ group_id, player_ids }, exchange)
      const { serverId, seats } = await startServer({ ...body, group_id }, playerIds, exchange)
      const views = seats.map((seat) => seatView(seat, service))
      return { server_id: serverId, seats: isBackend(exchange.caller) ? views : views.slice(0, 1) }
    },
    getSeat: async ({ seat_id }, { caller }) => seatView(await service.followSeat(seat_id, playerOf(caller)), service),
    releaseSeat: async ({ seat_id }, { caller }) => {
      await service.releaseSeat(seat_id, playerOf(caller))
    },
  }
}

type Input<Name extends keyof typeof seatRoutes> = Parameters<Handlers<typeof seatRoutes, MatchCaller>[Name]>[0]
type Shown = Input<'listServers'>
type StartBody = Exclude<Input<'quickJoin'>['start'], true | undefined>

/** Refusals of one server that say nothing of the next. */
const PASSING: ReadonlySet<string> = new Set(['server-full', 'server-closed', 'wrong-password', 'no-such-team'])
const isPassing = (error: unknown): boolean =>
  error instanceof UnknownServer || (error instanceof SeatRefused && PASSING.has(error.code))

/** `Frankfurt 23`: the name of a beacon, and milliseconds. Others are left out: they cannot be believed. */
function latenciesIn(given: readonly string[] = []): Readonly<Record<string, number>> {
  return Object.fromEntries(
    given.flatMap((text) => {
      const at = text.lastIndexOf(' ')
      const ms = Number(text.slice(at + 1))
      return at > 0 && ms > 0 && Number.isFinite(ms) ? [[text.slice(0, at), ms] as const] : []
    }),
  )
}

const serverView = (server: ListedServer, pingOf: PingOf): ListedServerView => ({
  server_id: server.id,
  name: server.name,
  pool: server.pool,
  build: server.build ?? null,
  place: server.place === undefined ? null : { city: server.place.city ?? null, country: server.place.country ?? null },
  ping: pingOf(server) ?? null,
  attributes: server.attributes,
  open: server.isOpen,
  password: server.hasPassword,
  seats: server.seats,
  teams: server.teams.flatMap(({ name, total, free }) => (name === '' ? [] : [{ team_id: name, total, free }])),
})

type Follow = ServerReader['follow']

/** The events of a page. Changes that a slow client has not taken yet become one. */
async function* followed(
  follow: Follow,
  page: Parameters<Follow>[0],
  signal: AbortSignal,
  over: () => void,
): AsyncGenerator<StreamEvent> {
  let waiting: PageChange | undefined
  let wake = () => {}
  const end = await follow(page, (change) => {
    waiting = waiting === undefined ? change : merged(waiting, change)
    wake()
  })
  const stop = () => wake()
  signal.addEventListener('abort', stop, { once: true })
  try {
    while (!signal.aborted) {
      const change = waiting
      waiting = undefined
      if (change !== undefined) yield eventOf(change, page.pingOf)
      else
        await new Promise<void>((resolve) => {
          wake = resolve
        })
    }
  } finally {
    end()
    over()
  }
}

function merged(before: PageChange, after: PageChange): PageChange {
  const order = after.order ?? before.order
  const servers = new Map([...before.servers, ...after.servers].map((server) => [server.id, server]))
  // What has left the page is not sent any more.
  if (order !== undefined) for (const id of servers.keys()) if (!order.includes(id)) servers.delete(id)
  return { isWhole: before.isWhole, servers: [...servers.values()], order, total: after.total }
}

const eventOf = ({ isWhole, servers, order, total }: PageChange, pingOf: PingOf): StreamEvent => ({
  event: isWhole ? 'page' : 'change',
  data: { servers: servers.map((server) => serverView(server, pingOf)), order: order ?? null, total },
})
