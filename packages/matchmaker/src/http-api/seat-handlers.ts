import type { Clock } from '@muster/core/clock'
import { Problem } from '@muster/core/http'
import { eventStream, type Handlers, type OpenWaits, type StreamEvent } from '@muster/core/internal'
import {
  createServerReader,
  type ListedServer,
  type PageChange,
  pageOf,
  type PingOf,
  readQuery,
  SeatRefused,
  type SeatsGranted,
  type ServerReader,
  type ServerQuery,
} from '@muster/hosting/internal'
import type { TicketService } from '../commands.js'
import { UnknownServer } from '../errors.js'
import { type Locate, placeOf } from '../locate/index.js'
import { isPlayerId, NO_PLAYER_ID } from '../tickets/index.js'
import { isBackend, type MatchCaller, playerOf } from './callers.js'
import { type Groups, memberProblem } from './groups.js'
import { type Beacons, createPings } from './latencies.js'
import type { ListedServerView, seatRoutes } from './server-routes.js'
import { seatView } from './ticket-views.js'

interface SeatHandlersOptions {
  readonly service: Pick<
    TicketService,
    'browserTerms' | 'listedServers' | 'holdSeats' | 'followSeat' | 'releaseSeat' | 'startServer' | 'dateOf'
  >
  readonly groups: Pick<Groups, 'read'>
  readonly waits: OpenWaits<MatchCaller>
  readonly beacons: Pick<Beacons, 'places'> | undefined
  readonly locate: Locate | undefined
  readonly clock: Clock
  readonly onError: (error: unknown) => void
}

type SeatHandlers = Handlers<typeof seatRoutes, MatchCaller>
type BrowsingHandlers = Pick<SeatHandlers, 'listServers' | 'serverEvents' | 'getServer'>
type SeatExchange = Parameters<SeatHandlers['holdSeat']>[1]
type SeatInput<Name extends keyof typeof seatRoutes> = Parameters<SeatHandlers[Name]>[0]
type StartBody = Exclude<SeatInput<'quickJoin'>['start'], true | undefined>
interface Party {
  readonly group_id?: string | undefined
  readonly player_ids?: readonly string[] | undefined
}

/** Creates the handlers by which players find servers and take seats. */
export function createSeatHandlers(options: SeatHandlersOptions): SeatHandlers {
  const list = new BrowsedServers(options)
  return { ...browsingHandlers(list, options), ...seatingHandlers(list, options) }
}

const addressOf = ({ caller, address }: SeatExchange) => (isBackend(caller) ? undefined : address)

/** The list of servers for HTTP callers. */
class BrowsedServers {
  readonly #options: SeatHandlersOptions
  readonly #pings: ReturnType<typeof createPings>
  #reader: ServerReader | undefined

  constructor(options: SeatHandlersOptions) {
    this.#options = options
    this.#pings = createPings(options.beacons, options.locate)
  }

  /** Returns a reader of the server list. The list is not read until the first caller looks for servers. */
  async fresh(): Promise<ServerReader> {
    const { service, clock, onError } = this.#options
    this.#reader ??= createServerReader({
      read: (known) => service.listedServers(known),
      browser: service.browserTerms(),
      clock,
      onError,
    })
    await this.#reader.fresh()
    return this.#reader
  }

  /** Parses the query of a server list. @throws {Problem} naming the field and the column */
  parseQuery(query: ServerQuery) {
    const found = readQuery(this.#options.service.browserTerms(), query)
    if (!('message' in found)) return found
    const { field, column, message } = found
    throw new Problem(400, 'filter', `${field}: column ${column}: ${message}`, { field, members: { column } })
  }

  /** Returns the estimated pings from the caller to the servers. */
  pings(reported: Readonly<Record<string, number>>, exchange: SeatExchange) {
    return this.#pings({ reported, ip: addressOf(exchange) })
  }
}

/** Creates the handlers by which players look for a server. */
function browsingHandlers(list: BrowsedServers, { waits, clock }: SeatHandlersOptions): BrowsingHandlers {
  const shownTo = async ({ latency, ...query }: SeatInput<'listServers'>, exchange: SeatExchange) => {
    const pings = await list.pings(latenciesIn(latency), exchange)
    return { query: list.parseQuery(query), ...pings, key: JSON.stringify([query, pings.key]) }
  }
  return {
    listServers: async (input, exchange) => {
      const { query, pingOf } = await shownTo(input, exchange)
      const { servers, total, next } = (await list.fresh()).page(query, pingOf)
      return { servers: servers.map((server) => serverView(server, pingOf)), total, next: next ?? null }
    },
    serverEvents: async (input, exchange) => {
      const page = await shownTo(input, exchange)
      const { caller, request } = exchange
      // Read the list before the stream begins, so that a failure becomes an error response.
      const { follow } = await list.fresh()
      let endStream = () => {}
      const leave = waits.enter(caller, () => endStream())
      return eventStream(
        (closed, end) => {
          endStream = end
          closed.addEventListener('abort', leave, { once: true })
          return followed(follow, page, closed, leave)
        },
        { clock, signal: request.signal },
      )
    },
    getServer: async ({ server_id }, exchange) => {
      const server = (await list.fresh()).find(server_id)
      if (server === undefined)
        throw new Problem(404, 'no-such-server', 'There is no such server, or it is not listed any more.')
      const { pingOf } = await list.pings({}, exchange)
      return serverView(server, pingOf)
    },
  }
}

/**
 * Maximum number of servers that a quick join tries in turn (our choice). Each server may have been filled since the
 * list was made.
 */
const MOST_TRIES = 5

/** Creates the handlers by which players take seats, on a running server or one that starts for them. */
function seatingHandlers(
  list: BrowsedServers,
  { service, groups, locate }: SeatHandlersOptions,
): Omit<SeatHandlers, keyof BrowsingHandlers> {
  /**
   * Returns the players who take seats: the caller, their group, or the players that a backend names. @throws {Problem}
   */
  const playersOf = async (party: Party, exchange: SeatExchange): Promise<readonly string[]> => {
    const ids = await namedBy(party, exchange)
    if (ids.every(isPlayerId)) return ids
    const field = party.player_ids === undefined ? 'player_id' : 'player_ids'
    throw new Problem(400, 'invalid-input', `${field}: ${NO_PLAYER_ID}`, { field })
  }
  const namedBy = async ({ group_id, player_ids }: Party, { caller }: SeatExchange): Promise<readonly string[]> => {
    const own = playerOf(caller)
    if (own !== undefined && player_ids !== undefined)
      throw new Problem(403, 'backend-only', 'Only a trusted backend may send player_ids.', { field: 'player_ids' })
    if (group_id !== undefined) {
      const { members } = await groups.read(group_id, caller)
      const ids = members.map(({ player_id }) => player_id)
      return own === undefined ? ids : [own, ...ids.filter((id) => id !== own)]
    }
    if (own !== undefined) return [own]
    return [...new Set(player_ids)]
  }
  const seated = async (body: Party, exchange: SeatExchange) => {
    const ids = await playersOf(body, exchange)
    if (ids.length > 0) return ids
    throw new Problem(400, 'invalid-input', 'player_ids: a backend must send the ids of the players', {
      field: 'player_ids',
    })
  }

  const seatsView = ({ seats }: Pick<SeatsGranted, 'seats'>, { caller }: SeatExchange) => {
    const views = seats.map((seat) => seatView(seat, service))
    const [first] = views
    if (first === undefined) throw new Error('the matchmaker granted seats, but named no player for them')
    return isBackend(caller) ? { ...first, party: views } : first
  }
  const answer = (granted: SeatsGranted, exchange: SeatExchange, status = granted.isNew ? 201 : 200) =>
    Response.json(seatsView(granted, exchange), { status })

  /** Runs an action for a party. If another member cannot join, the caller gets no details about that member. */
  const forParty = async <Result>({ caller }: SeatExchange, act: () => Result | Promise<Result>): Promise<Result> => {
    try {
      return await act()
    } catch (error) {
      throw (isBackend(caller) ? undefined : memberProblem(error, caller.id, service)) ?? error
    }
  }

  const startServer = async (
    { pool, name, password, attributes = {}, group_id }: StartBody & Party,
    playerIds: readonly string[],
    exchange: SeatExchange,
    mayShare?: true,
  ) => {
    const near = await placeOf(addressOf(exchange), locate)
    const by = playerOf(exchange.caller)
    const request = { pool, playerIds, groupId: group_id, name, password, attributes, near, mayShare, by }
    return forParty(exchange, () => service.startServer(request))
  }

  return {
    holdSeat: async ({ server_id, team, password, build, ...party }, exchange) => {
      const playerIds = await seated(party, exchange)
      const by = playerOf(exchange.caller)
      const address = addressOf(exchange)
      const groupId = party.group_id
      const request = { serverId: server_id, playerIds, team, password, build, groupId, by, address }
      return answer(await forParty(exchange, () => service.holdSeats(request)), exchange)
    },

    quickJoin: async ({ latencies = {}, start, team, build, group_id, player_ids, ...query }, exchange) => {
      const party = { group_id, player_ids }
      const playerIds = await seated(party, exchange)
      const { filter, ...sorted } = list.parseQuery({ ...query, limit: MOST_TRIES })
      const { pingOf } = await list.pings(latencies, exchange)
      const fits = (server: ListedServer) =>
        server.isOpen &&
        !server.hasPassword &&
        server.seats.free >= playerIds.length &&
        (team === undefined || server.teams.some(({ name, free }) => name === team && free >= playerIds.length)) &&
        (build === undefined || server.build === undefined || server.build === build) &&
        filter(server, pingOf)
      const page = pageOf((await list.fresh()).all(), { ...sorted, filter: fits }, pingOf)
      for (const { id: serverId } of page.servers) {
        const by = playerOf(exchange.caller)
        const request = { serverId, playerIds, team, build, groupId: group_id, by }
        try {
          return answer(await forParty(exchange, () => service.holdSeats(request)), exchange)
        } catch (error) {
          // The server has changed since the list was made.
          if (!isPassing(error)) throw error
        }
      }
      if (start === undefined)
        throw new Problem(
          409,
          'no-server-fits',
          'No server that fits has enough free seats. Change the request, or start a server.',
        )
      const wanted = start === true ? {} : start
      // A player who names the server or chooses a password wants a server of their own.
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

/** Refusals of one server after which the next server may still accept. */
const PASSING: ReadonlySet<string> = new Set(['server-full', 'server-closed', 'wrong-password', 'no-such-team'])
const isPassing = (error: unknown): boolean =>
  error instanceof UnknownServer || (error instanceof SeatRefused && PASSING.has(error.code))

/** Parses `Frankfurt 23`: the name of a beacon, and milliseconds. Other entries are ignored. */
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

/** Yields the events of a page. Changes that a slow client has not read yet are merged. */
async function* followed(
  follow: Follow,
  page: Parameters<Follow>[0],
  signal: AbortSignal,
  over: () => void,
): AsyncGenerator<StreamEvent> {
  let waiting: PageChange | undefined
  let wake = () => {}
  let end = () => {}
  const stop = () => wake()
  signal.addEventListener('abort', stop, { once: true })
  try {
    end = await follow(page, (change) => {
      waiting = waiting === undefined ? change : merged(waiting, change)
      wake()
    })
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
  // Servers that left the page are no longer sent.
  if (order !== undefined) for (const id of servers.keys()) if (!order.includes(id)) servers.delete(id)
  return { isWhole: before.isWhole, servers: [...servers.values()], order, total: after.total }
}

const eventOf = ({ isWhole, servers, order, total }: PageChange, pingOf: PingOf): StreamEvent => ({
  event: isWhole ? 'page' : 'change',
  data: { servers: servers.map((server) => serverView(server, pingOf)), order: order ?? null, total },
})
