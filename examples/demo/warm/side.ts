import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { systemClock } from '@muster/core/clock'
import { nodeListener } from '@muster/core/http'
import type { Emulator } from '@muster/emulator'
import {
  createMatchmaker,
  createTicketApi,
  type Matchmaker,
  type PoolDefinition,
  type Ticket,
} from '@muster/matchmaker'
import type { Arrival } from '../crowd.js'
import type { DemoOptions } from '../options.js'
import { percentiles } from '../percentiles.js'
import type { Player } from '../players.js'
import { playersIn } from '../players-in.js'
import type { DemoQueue } from '../queues.js'
import { running, SPEED, startService } from '../service.js'
import { type Watch, watchDemo } from '../watch.js'
import type { SideResult } from './result.js'

/** Median durations in milliseconds of simulated time: of a server's start until it has registered, and of a match. */
const GAME_SERVERS = { bootMs: 15_000, matchMs: 20_000 }
/** Assumed price of a server in USD per hour. */
export const PRICE_PER_HOUR = 0.1
const HOUR_MS = 3_600_000

/** One of the two services to which the same crowd is sent at the same time. */
export interface Side {
  readonly matchmaker: Matchmaker
  readonly watch: Watch
  readonly emulator: Emulator
  /** Returns the number of servers of the pool that wait for a match. */
  idle(): number
  /** Returns true if all matches that have begun are over. */
  allOver(): boolean
  /** Returns the result, once all servers have been stopped. */
  result(): SideResult
  end(): Promise<void>
}

interface SideOptions {
  readonly options: DemoOptions
  readonly queue: DemoQueue
  readonly pools: readonly PoolDefinition[]
  readonly arrivals: readonly Arrival[]
  readonly placeOf: (ip: string) => Player | undefined
}

/** Starts a service on a port, a matchmaker, and its ticket API, to which the service's game servers report. */
export async function startSide({ options, queue, pools, arrivals, placeOf }: SideOptions): Promise<Side> {
  let api: (request: Request) => Promise<Response> = async () => new Response(null, { status: 503 })
  const server = createServer(nodeListener((request) => api(request)))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { emulator, client } = await startService(options, placeOf, GAME_SERVERS)
  const matchmaker = createMatchmaker({
    deployments: client.deployments,
    locate: placeOf,
    queues: [queue.definition],
    pools,
    apiUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
  })
  api = createTicketApi(matchmaker, { authenticate: () => undefined })
  const meter = meterOf(matchmaker)
  const watch = watchDemo(matchmaker, client, [queue], arrivals)
  return {
    matchmaker,
    watch,
    emulator,
    idle: () => matchmaker.inspect().pools.reduce((sum, { idle }) => sum + idle, 0),
    allOver: () => meter.playing.size === 0,
    result: () => {
      const having = (status: Ticket['status']) =>
        playersIn(watch.tickets().filter((ticket) => ticket.status === status))
      const players = playersIn(watch.tickets())
      const [assigned, expired] = [meter.toPlayMs.length, having('CANCELLED')]
      const { asked, hits, idleHours } = meter.ofPools()
      const serverHours = (meter.serverMs() / HOUR_MS) * SPEED
      return {
        players,
        assigned,
        expired,
        lost: players - assigned - expired,
        matches: meter.matches(),
        toPlayMs: percentiles(meter.toPlayMs),
        warm: asked === 0 ? undefined : hits / asked,
        creates: meter.creates(),
        serverHours,
        idleHours: idleHours * SPEED,
        cost: serverHours * PRICE_PER_HOUR,
        serversLeft: running(emulator).length,
      }
    },
    end: async () => {
      await client.close()
      await emulator.close()
      server.close()
      server.closeAllConnections()
    },
  }
}

/** Counts matches and servers, and measures the waits of players. */
function meterOf(matchmaker: Matchmaker) {
  const since = new Map<string, number>()
  const playing = new Set<string>()
  const toPlayMs: number[] = []
  let creates = 0
  let matches = 0
  let serverMs = 0
  let pools = matchmaker.inspect().pools
  matchmaker.on('deploymentCreated', ({ requestId }) => {
    creates += 1
    since.set(requestId, systemClock.now())
  })
  matchmaker.on('deploymentStopped', ({ requestId }) => {
    serverMs += systemClock.now() - (since.get(requestId) ?? systemClock.now())
    since.delete(requestId)
  })
  matchmaker.on('serverAssigned', ({ matchId, tickets }) => {
    if (!playing.has(matchId)) matches += 1
    playing.add(matchId)
    for (const { createdAt, players } of tickets) toPlayMs.push(...players.map(() => systemClock.now() - createdAt))
  })
  matchmaker.on('matchOver', ({ matchId }) => void playing.delete(matchId))
  matchmaker.on('tickCompleted', () => {
    pools = matchmaker.inspect().pools
  })
  return {
    playing,
    toPlayMs,
    creates: () => creates,
    matches: () => matches,
    serverMs: () => serverMs,
    /** Returns the pools' counts as of the last tick, because a closed matchmaker returns none. */
    ofPools: () => ({
      asked: pools.reduce((sum, pool) => sum + pool.asked, 0),
      hits: pools.reduce((sum, pool) => sum + pool.hits, 0),
      idleHours: pools.reduce((sum, pool) => sum + pool.idleHours, 0),
    }),
  }
}
