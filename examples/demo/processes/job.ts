import { systemClock } from '@muster/core/clock'
import { connectRedis, createRedisPartition, type Partition } from '@muster/redis'
import { startRedisServer } from '@muster/redis-server'
import type { Emulator } from '@muster/emulator'
import type { Ticket } from '@muster/matchmaker'
import { ARRIVE_MS, gather } from '../crowd.js'
import { beaconsOf, measured } from '../latencies.js'
import type { DemoOptions } from '../options.js'
import type { Progress } from '../progress.js'
import { EXPIRE_IN_PROCESSES_MS, processQueues } from '../queues.js'
import { resultOf } from '../result-of.js'
import type { Screen } from '../screen.js'
import { running, startService } from '../service.js'
import { createUnmatched } from '../unmatched.js'
import { createFleet } from './fleet.js'
import { PARTITION } from './messages.js'
import { startPlayers } from './players.js'
import { processesResult, type ProcessesDemoResult } from './result.js'
import { createTally } from './tally.js'

/** Maximum milliseconds for which the demo waits for players. */
const LONGEST_MS = 90_000
const LOOK_MS = 100
/** Times at which the leader and another process are killed, as shares of the time in which players arrive. */
const KILLED_AT = { other: 0.3, leader: 0.6 }

/**
 * Runs the demo in several processes, two of which are killed meanwhile.
 * @param interrupted ends the demo early.
 */
export async function runInProcesses(
  options: DemoOptions,
  show: Screen['show'],
  interrupted: AbortSignal,
): Promise<ProcessesDemoResult> {
  const { seed, queueSize, processes } = options
  const queues = processQueues(queueSize)
  const crowd = gather(options, ARRIVE_MS)
  const placeOf = (ip: string) => crowd.places.get(ip)
  const server = await startRedisServer({ appendOnly: 'everysec' })
  const { emulator, client, url } = await startService(options, placeOf)
  const arrivals = measured(crowd.arrivals, queues, placeOf, await beaconsOf(client), seed)
  const tally = createTally()
  const players = await startPlayers()
  const fleet = createFleet({
    setup: { redisUrl: server.url, serviceUrl: url, queueSize, seed },
    heard: tally.heard,
    reached: players.reach,
  })
  await Promise.all(Array.from({ length: processes }, fleet.start))
  const redis = await connectRedis({ client: { url: server.url } })
  const follower = createRedisPartition({
    redis,
    name: PARTITION,
    queues: queues.map(({ definition }) => definition),
    deployments: client.deployments,
    canLead: false,
  })
  follower.start()

  const unmatched = createUnmatched(follower, EXPIRE_IN_PROCESSES_MS, systemClock)
  const ending = new AbortController()
  const over = AbortSignal.any([ending.signal, interrupted])
  const startedAt = systemClock.now()
  const report = (phase: Progress['phase']) =>
    show(phase, () =>
      tally.progress({ phase, queues, arrivals, counts: players.counts(), requests: requestsTo(emulator) }),
    )
  const pause = (ms: number) => systemClock.sleep(ms, over).catch(() => {})
  const killing = (async () => {
    await pause(KILLED_AT.other * ARRIVE_MS)
    if (over.aborted) return
    await fleet.kill('other')
    await fleet.start()
    await pause(startedAt + KILLED_AT.leader * ARRIVE_MS - systemClock.now())
    if (over.aborted) return
    await fleet.kill('leader')
    await fleet.start()
  })()

  players.come(arrivals)
  while (!interrupted.aborted && !players.isOver() && systemClock.now() < startedAt + LONGEST_MS) {
    await pause(LOOK_MS)
    // An error is ignored, because there may be no leader at the moment.
    void unmatched.look().catch(() => {})
    report('matching')
  }
  const interruptedWith = interrupted.aborted ? running(emulator).length : undefined
  ending.abort()
  await killing
  const { acknowledged, repeated } = await players.stop()
  const ended = await readAll(follower, acknowledged)

  report('stopping')
  stopMatches(follower).catch(() => {}) // what still runs is counted below
  while (running(emulator).length > 0 && systemClock.now() < startedAt + LONGEST_MS) {
    await systemClock.sleep(LOOK_MS)
    report('stopping')
  }
  await fleet.stop()
  await follower.close()
  await redis.close()
  await server.close()
  report('done')
  await client.close()

  const result = resultOf({
    options,
    queues,
    arrivals,
    placeOf,
    ended,
    why: unmatched.why,
    emulator,
    limits: [],
    pressure: { seconds: 0, creates: 0, busy: 0, causes: {} },
    joined: tally.joined,
    placed: tally.placed,
    left: tally.left,
    tookMs: systemClock.now() - startedAt,
    interruptedWith,
  })
  const deployments = emulator.inspect().deployments
  await emulator.close()
  return processesResult(result, {
    processes,
    ended,
    acknowledged,
    repeated,
    takeoversMs: fleet.takeoversMs,
    deployments,
  })
}

/** Returns all acknowledged tickets, as any process returns them now. */
async function readAll(follower: Partition, ids: readonly string[]): Promise<Ticket[]> {
  const tickets = await Promise.all(ids.map((id) => follower.getTicket(id)))
  return tickets.flatMap((ticket) => ticket ?? [])
}

/** Stops all servers, including those that still start. The caller checks with the service that they have ended. */
async function stopMatches(follower: Partition): Promise<void> {
  const { matches } = await follower.inspect()
  await Promise.allSettled(matches.map(({ matchId }) => follower.stopMatch(matchId)))
}

const requestsTo = ({ counters }: Emulator) =>
  Object.values(counters.requests).reduce(
    (sum, byStatus) => sum + Object.values(byStatus).reduce((one, other) => one + other, 0),
    0,
  )
