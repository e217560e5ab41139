import { repeatFor } from './connection.js'
import { tell } from './listeners.js'
import type { Muster } from './muster.js'
import { goodBody, MusterError, WRONG_ANSWER } from './refusal.js'
import { addShapes } from './shapes.js'
import type { Assignment } from './state.js'
import { assignmentOf, type WireSeat } from './wire.js'

/** The servers that the player wants: see docs/servers.md, Server browser. */
export interface ServerQuery {
  /** Conditions that must all hold, e.g. `mode eq ctf`, `seats.free ge 2`. */
  readonly where?: readonly string[]
  /** A part of the server's name. */
  readonly search?: string
  /** Sort order. Default `ping,-seats.taken`. */
  readonly sort?: string
  /**
   * True: measures round trips by requests to each beacon. False: Muster estimates them from the player's address.
   * Default: true if `sort` or `where` names `ping`.
   */
  readonly ping?: boolean
  /** Maximum number of servers on a page, from 1 to 100. Default 20. */
  readonly limit?: number
}

export interface ListedServer {
  readonly id: string
  readonly name: string
  readonly attributes: Readonly<Record<string, string | number | boolean>>
  /** Numbers of seats. `total` is the sum of `free`, `held`, `taken` and `away`. */
  readonly seats: Readonly<Record<'total' | 'free' | 'held' | 'taken' | 'away', number>>
  readonly city: string | null
  /** Round trip in milliseconds, rounded to tens. */
  readonly pingMs: number | null
  readonly open: boolean
  readonly password: boolean
}

export interface ServerPage {
  readonly servers: readonly ListedServer[]
  /** Number of servers on all pages. */
  readonly total: number
  /** The `cursor` with which the next page is requested. Null on the last page. */
  readonly next: string | null
}

interface SeatRequest {
  readonly team?: string
  readonly password?: string
  readonly build?: string
  /** The id of the player's group. Either all members get a seat, or none. */
  readonly groupId?: string
  /** Aborting this signal stops the wait for a starting server, and returns the seat. */
  readonly signal?: AbortSignal
}

/** A seat on a server. It is held for a limited time, until the player is on the server. */
export interface Seat {
  readonly id: string
  readonly serverId: string
  readonly assignment: Assignment
  /**
   * Requests a new join token, which also extends the hold of the seat. @throws {MusterError} `no-such-seat` if the
   * seat is no longer held
   */
  renew(): Promise<Assignment>
  /** Returns the seat to the server. */
  leave(): Promise<void>
}

/** The server browser. All calls reject with a `MusterError`. */
interface Servers {
  list(query?: ServerQuery & { readonly cursor?: string }): Promise<ServerPage>
  /**
   * Calls the listener with the page at once, and after each change, at most every two seconds. Resolves when the
   * signal aborts. Rejects if Muster refuses the query, e.g. for an invalid `where`; a rejection may be ignored.
   */
  watch(query: ServerQuery, listener: (page: ServerPage) => void, signal: AbortSignal): Promise<void>
  /** Takes a seat on this server. The message of `server-full` lists `alternatives`. */
  join(serverId: string, request?: SeatRequest): Promise<Seat>
  /**
   * Takes a seat on the best server. With `start`, a new server is started if none fits: it gets the given values, not
   * those of `where`.
   */
  quickJoin(query?: ServerQuery & { readonly start?: boolean | StartedServer }, request?: SeatRequest): Promise<Seat>
  /** Starts a new server for the player. */
  start(pool: string, session?: NewSession, request?: SeatRequest): Promise<Seat>
}

interface NewSession {
  readonly name?: string
  readonly password?: string
  readonly attributes?: Readonly<Record<string, string | number | boolean>>
}

/** `pool`: default the first pool in which players may start servers. */
interface StartedServer extends NewSession {
  readonly pool?: string
}

interface WireServer extends Omit<ListedServer, 'id' | 'city' | 'pingMs'> {
  readonly server_id: string
  readonly place: { readonly city: string | null } | null
  readonly ping: number | null
}
type SeatAnswer = WireSeat & { readonly server_id: string }

addShapes({
  newSeat: { seat_id: 'text', server_id: 'text', status: 'text', assignment: 'assignment?' },
  seats: { seats: 'newSeat[]' },
  page: { servers: 'server[]', total: 'count', next: 'text?' },
  server: {
    server_id: 'text',
    name: 'text',
    attributes: 'object',
    seats: 'number{}',
    place: 'place?',
    ping: 'number?',
    open: 'boolean',
    password: 'boolean',
  },
})

const GIVEN_BACK = { status: 0, code: 'cancelled', message: 'The seat was given back.' }

const WATCH_MS = 2000
const STARTING_MS = 1000

export function createServers(muster: Muster): Servers {
  const { clock } = muster
  const call = async (shape: string, method: string, path: string, body?: object) =>
    goodBody(await muster.send({ method, path, body }), shape)

  const latenciesFor = async ({ where = [], sort = '', ping }: ServerQuery) => {
    const names = [...where.map((clause) => clause.trim().split(' ')[0]), ...sort.split(',').map((one) => one.trim())]
    return (ping ?? names.some((name) => /^[-+]?ping$/.test(name ?? ''))) ? muster.latencies() : undefined
  }
  const pathOf = async (wanted: ServerQuery & { readonly cursor?: string }) => {
    const { where = [], search, sort, limit, cursor } = wanted
    const latencies = Object.entries((await latenciesFor(wanted)) ?? {})
    const pairs = [
      ...where.map((clause) => ['where', clause]),
      ...Object.entries({ q: search, sort, limit, cursor }).filter(([, value]) => value !== undefined),
      ...latencies.map(([city, ms]) => ['latency', `${city} ${ms}`]),
    ]
    const query = pairs.map(([name, value]) => `${name}=${encodeURIComponent(value as string)}`).join('&')
    return `/servers${query === '' ? '' : `?${query}`}`
  }

  /** Requests a seat. The signal does not abort the request, because its answer has the seat to give back. */
  const take = async (shape: string, path: string, body: object, { signal }: SeatRequest): Promise<Seat> => {
    if (signal?.aborted) throw new MusterError(GIVEN_BACK)
    const answer = (await call(shape, 'POST', path, body)) as SeatAnswer & { readonly seats?: readonly SeatAnswer[] }
    const seat = answer.seats === undefined ? answer : answer.seats[0]
    if (seat === undefined) throw new MusterError(WRONG_ANSWER)
    return seatOf(seat, signal)
  }

  const seatOf = async (first: SeatAnswer, signal: AbortSignal | undefined): Promise<Seat> => {
    const path = `/seats/${encodeURIComponent(first.seat_id)}`
    const read = (ending?: AbortSignal) => muster.repeat({ method: 'GET', path, signal: ending })
    let seat = first
    for (;;) {
      if (signal?.aborted) {
        await muster.repeat({ method: 'DELETE', path })
        throw new MusterError(GIVEN_BACK)
      }
      if (seat.assignment) break
      await clock.sleep(STARTING_MS, signal).catch(() => {})
      const answer = await read(signal)
      if (!signal?.aborted) seat = goodBody(answer, 'newSeat') as SeatAnswer
    }
    return {
      id: seat.seat_id,
      serverId: seat.server_id,
      assignment: assignmentOf(seat.assignment),
      renew: async () => {
        const { assignment } = goodBody(await read(), 'newSeat') as SeatAnswer
        if (assignment) return assignmentOf(assignment)
        throw new MusterError({ status: 0, code: 'no-such-seat', message: 'The seat has no server any more.' })
      },
      leave: async () => {
        await muster.repeat({ method: 'DELETE', path })
      },
    }
  }

  /** JSON omits undefined values. */
  const joining = ({ team, password, build, groupId }: SeatRequest) => ({ team, password, build, group_id: groupId })

  return {
    list: async (query = {}) => pageOf((await call('page', 'GET', await pathOf(query))) as WirePage),
    watch: (query, listener, signal) => {
      const watching = (async () => {
        const path = await pathOf(query)
        let shown = ''
        while (!signal.aborted) {
          const answer = await repeatFor('page', muster, { method: 'GET', path, signal })
          if (signal.aborted) return
          const page = JSON.stringify(goodBody(answer, 'page'))
          if (page !== shown) tell(listener, pageOf(answer.body as WirePage))
          shown = page
          await clock.sleep(WATCH_MS, signal).catch(() => {})
        }
      })()
      watching.catch(() => {})
      return watching
    },
    join: async (serverId, request = {}) => {
      const path = `/servers/${encodeURIComponent(serverId)}/seats`
      return take('newSeat', path, joining(request), request)
    },
    quickJoin: async (query = {}, request = {}) => {
      const { where, search, sort, start } = query
      const { password: _, ...rest } = joining(request)
      const latencies = await latenciesFor(query)
      const body = { where, q: search, sort, start: start || undefined, latencies, ...rest }
      return take('newSeat', '/seats', body, request)
    },
    start: async (pool, session = {}, request = {}) => {
      const body = { ...session, group_id: request.groupId }
      const path = `/pools/${encodeURIComponent(pool)}/servers`
      return take('seats', path, body, request)
    },
  }
}

interface WirePage {
  readonly servers: readonly WireServer[]
  readonly total: number
  readonly next: string | null
}

const pageOf = ({ servers, total, next }: WirePage): ServerPage => ({
  servers: servers.map(({ server_id, name, attributes, seats, place, ping, open, password }) => ({
    id: server_id,
    name,
    attributes,
    seats,
    open,
    password,
    city: place?.city ?? null,
    pingMs: ping,
  })),
  total,
  next,
})
