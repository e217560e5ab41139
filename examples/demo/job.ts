import { createClient, greatCircleKm } from '@muster/core'
import type { OperationId } from '@muster/core/api'
import { seededRandom, systemClock } from '@muster/core/clock'
import { createEmulator, type Emulator } from '@muster/emulator'
import { createMatchmaker, type Ticket } from '@muster/matchmaker'
import { gather } from './crowd.js'
import { badDay } from './faults.js'
import { createLimitMeter, type LimitUse } from './limit-use.js'
import type { DemoOptions } from './options.js'
import { percentiles } from './percentiles.js'
import type { DemoResult } from './result.js'

/** Servers start and stop so many times faster than they would; players wait in real time. */
export const SPEED = 5
/** All arrive within this time. */
const ARRIVE_MS = 9000
const EXPIRE_MS = 10_000
/** Nobody is waited for longer: whoever has not ended by then is lost, and the demo says so. */
const LONGEST_MS = 60_000

/** Where things stand. */
export interface Progress {
  readonly players: number
  readonly arrived: number
  readonly waiting: number
  readonly deploying: number
  readonly playing: number
  readonly matches: number
  readonly serversReady: number
  readonly requests: number
  readonly limits: readonly LimitUse[]
  readonly phase: 'matching' | 'stopping' | 'done'
}

/** The main job, start to end: an emulator on a port, a client, a matchmaker, and a crowd. */
export async function runDemo(options: DemoOptions, show: (progress: Progress) => void): Promise<DemoResult> {
  const { seed, queueSize } = options
  const crowd = gather(options, ARRIVE_MS)
  const placeOf = (ip: string) => crowd.places.get(ip)
  const startedAt = systemClock.now()

  const emulator = createEmulator({ random: seededRandom(seed), speed: SPEED, locate: placeOf, faults: options.faults ? badDay : [] })
  const { url } = await emulator.listen()
  // Service, matchmaker and client share one thread here, so a request may reach the service later than on a real network.
  const client = createClient({ baseUrl: url, token: 'dev', jitterMs: 150 })
  await client.applications.create({ name: 'demo-game', is_active: true })
  await client.versions.create({
    app_name: 'demo-game',
    name: 'v1',
    docker_repository: 'registry.example.com',
    docker_image: 'studio/demo-game',
    docker_tag: '1.0',
    req_cpu: 512,
    req_memory: 1024,
    force_cache: true,
    ports: [{ name: 'game', port: 7777, protocol: 'UDP' }],
    termination_grace_period_seconds: 5,
  })

  const matchmaker = createMatchmaker({
    deployments: client.deployments,
    locate: placeOf,
    queues: [
      {
        name: 'demo',
        matchSize: queueSize,
        distance: [
          { afterMs: 0, km: 500 },
          { afterMs: 1500, km: 1000 },
          { afterMs: 3000, km: 2500 },
          { afterMs: 5000, km: 5000 },
          { afterMs: 7000, km: 'any' },
        ],
        expireAfterMs: EXPIRE_MS,
        deploy: { application: 'demo-game', version: 'v1' },
      },
    ],
  })

  const meter = createLimitMeter()
  let requests = 0
  client.events.on('request', ({ operation }) => {
    requests += 1
    meter.left(operation, systemClock.now())
  })
  const watch = { arrived: 0, matches: 0, serversReady: 0, phase: 'matching' as Progress['phase'] }
  const ticketIds: string[] = []
  const tickets = () => ticketIds.map((id) => matchmaker.getTicket(id)).filter((ticket) => ticket !== undefined)
  const report = () => {
    const now = tickets()
    const withStatus = (status: Ticket['status']) => playersIn(now.filter((ticket) => ticket.status === status))
    show({
      ...watch,
      players: options.players,
      waiting: withStatus('SEARCHING'),
      deploying: withStatus('MATCH_FOUND'),
      playing: withStatus('HOST_ASSIGNED'),
      requests,
      limits: meter.use(),
    })
  }
  matchmaker.on('matchFound', () => void (watch.matches += 1))
  matchmaker.on('assigned', () => void (watch.serversReady += 1))

  matchmaker.start()
  for (const { afterMs, ticket } of crowd.arrivals) {
    const wait = startedAt + afterMs - systemClock.now()
    if (wait > 0) await systemClock.sleep(wait)
    ticketIds.push(matchmaker.createTicket(ticket).id)
    watch.arrived += ticket.players.length
    if (wait > 0) report()
  }
  const hasEnded = (ticket: Ticket) => ticket.status === 'HOST_ASSIGNED' || ticket.status === 'CANCELLED'
  while (!tickets().every(hasEnded) && systemClock.now() < startedAt + LONGEST_MS) {
    await systemClock.sleep(100)
    report()
  }
  const ended = tickets()

  watch.phase = 'stopping'
  report()
  await matchmaker.close({ stopServers: true })
  while (running(emulator).length > 0 && systemClock.now() < startedAt + LONGEST_MS) {
    await systemClock.sleep(100)
    report()
  }
  watch.phase = 'done'
  report()
  await client.close()

  const assigned = ended.filter((ticket) => ticket.status === 'HOST_ASSIGNED')
  const cancelled = ended.filter((ticket) => ticket.status === 'CANCELLED')
  const waits = assigned.flatMap(({ players, createdAt, assignedAt = createdAt }) => players.map(() => assignedAt - createdAt))
  const ipOf = new Map(crowd.arrivals.flatMap(({ ticket }) => ticket.players.map(({ id, ip = '' }) => [id, ip] as const)))
  const distances = assigned.flatMap(({ players, assignment }) =>
    players.flatMap(({ id }) => {
      const from = placeOf(ipOf.get(id) ?? '')
      const { latitude, longitude } = assignment?.location ?? {}
      return from === undefined || latitude === undefined || longitude === undefined ? [] : [greatCircleKm(from, { latitude, longitude })]
    }),
  )
  const state = emulator.inspect().deployments
  const result: DemoResult = {
    players: options.players,
    assigned: playersIn(assigned),
    expired: playersIn(cancelled.filter(({ cancelReason }) => cancelReason === 'expired')),
    cancelled: countBy(
      cancelled.filter(({ cancelReason }) => cancelReason !== 'expired').flatMap(({ players, cancelReason }) => players.map(() => String(cancelReason))),
    ),
    lost: options.players - playersIn(assigned) - playersIn(cancelled),
    matches: new Set(assigned.map(({ matchId }) => matchId)).size,
    deployments: state.length,
    rejected429: Object.values(emulator.counters.rejected).reduce((sum, count) => sum + count, 0),
    serversLeft: running(emulator).length,
    waitMs: percentiles(waits),
    distanceKm: (({ p50, p95 }) => ({ p50, p95 }))(percentiles(distances)),
    seconds: Math.round((systemClock.now() - startedAt) / 100) / 10,
    speed: SPEED,
    seed,
    requests: emulator.counters.requests as Record<OperationId, Record<string, number>>,
    limits: meter.use(),
    cities: Object.entries(countBy(state.flatMap(({ location }) => location?.city ?? [])))
      .map(([city, servers]) => ({ city, servers }))
      .toSorted((a, b) => b.servers - a.servers),
  }
  await emulator.close()
  return result
}

const playersIn = (tickets: readonly Ticket[]) => tickets.reduce((sum, { players }) => sum + players.length, 0)

const running = (emulator: Emulator) => emulator.inspect().deployments.filter(({ current_status }) => current_status !== 'Status.TERMINATED')

function countBy(values: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const value of values) counts[value] = (counts[value] ?? 0) + 1
  return counts
}
