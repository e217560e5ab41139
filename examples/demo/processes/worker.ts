/*
 * One of several processes. It serves the ticket API on a port, over a partition in Redis. The demo starts it, and may
 * kill it at any moment.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createClient } from '@muster/core'
import { seededRandom, systemClock } from '@muster/core/clock'
import { bearerToken, nodeListener } from '@muster/core/http'
import { createTicketApi } from '@muster/matchmaker'
import { connectRedis, createRedisLimits, createRedisPartition } from '@muster/redis'
import { playersIn } from '../players-in.js'
import { loadPlayers } from '../players.js'
import { processQueues } from '../queues.js'
import { liveSocially } from '../social-life.js'
import { BACKEND, PARTITION, type WorkerMessage, type WorkerSetup } from './messages.js'

const setup = JSON.parse(process.argv[2] ?? '{}') as WorkerSetup
const tell = (message: WorkerMessage) => void process.send?.(message)
const places = new Map(loadPlayers().map((player) => [player.ip, player]))

const redis = await connectRedis({ client: { url: setup.redisUrl } })
const limits = createRedisLimits({ redis })
const client = createClient({ baseUrl: setup.serviceUrl, token: 'dev', limiter: limits.limiter })
const partition = createRedisPartition({
  redis,
  name: PARTITION,
  queues: processQueues(setup.queueSize).map(({ definition }) => definition),
  deployments: client.deployments,
  beacons: () => client.locations.beacons.all(),
  locate: (ip) => places.get(ip),
})

partition.on('leading', () => tell({ kind: 'leading' }))
partition.on('following', () => tell({ kind: 'following' }))
partition.onMatching('matchFound', () => tell({ kind: 'matched' }))
partition.onMatching('deploymentReady', ({ queue, placed }) => tell({ kind: 'ready', queue, placed }))
partition.onMatching('backfillJoined', ({ queue, tickets }) =>
  tell({ kind: 'joined', queue, players: playersIn(tickets) }),
)
const ending = new AbortController()
liveSocially({
  service: partition,
  onAssigned: (listener) => partition.onMatching('serverAssigned', listener),
  queue: 'social',
  clock: systemClock,
  random: seededRandom(setup.seed + 1),
  signal: ending.signal,
  left: (playerIds) => tell({ kind: 'left', playerIds }),
})

const api = createTicketApi(partition, {
  authenticate: (request) => {
    const id = bearerToken(request)
    return id === undefined ? undefined : id === BACKEND ? { id, role: 'backend' } : { id }
  },
})
const server = createServer(nodeListener(api))
server.listen(0, '127.0.0.1', () => {
  partition.start()
  tell({ kind: 'listening', port: (server.address() as AddressInfo).port })
})

// Ctrl-C sends a signal to all processes of a terminal. This one ignores it, because the demo's own process ends it in
// order.
process.on('SIGINT', () => {})
process.once('disconnect', () => process.exit())
process.once('SIGTERM', async () => {
  ending.abort()
  server.close()
  server.closeAllConnections()
  await partition.close()
  await client.close()
  await limits.close()
  await redis.close()
  process.exit(0)
})
