import { systemClock } from '@muster/core/clock'
import type { PoolDefinition, QueueDefinition } from '@muster/matchmaker'
import { createBreather } from '../breathe.js'
import { gather } from '../crowd.js'
import type { DemoOptions } from '../options.js'
import type { Progress } from '../progress.js'
import { type DemoQueue, demoQueues } from '../queues.js'
import type { Screen } from '../screen.js'
import { running, SPEED } from '../service.js'
import type { WarmResult } from './result.js'
import { PRICE_PER_HOUR, type Side, startSide } from './side.js'

/** Milliseconds within which all players arrive. */
const ARRIVE_MS = 10_000
/** Maximum milliseconds until the pool is warm. Usually some 6 s are needed. */
const WARM_UP_MS = 12_000
/**
 * Maximum milliseconds for which the demo waits for players. Players who have no result by then count as lost, which
 * the result shows.
 */
const LONGEST_MS = 40_000
const LOOK_MS = 100
/** Number of players of a match, unless `--queue-size` states it. */
export const MATCH_SIZE = 4

/** The number of warm servers at each location, and the locations. */
const WARM_AT_EACH = 16
const places = [
  { name: 'Frankfurt', latitude: 50.1, longitude: 8.7 },
  { name: 'Virginia', latitude: 39, longitude: -77.5 },
  { name: 'Singapore', latitude: 1.3, longitude: 103.8 },
]
const deploy = { application: 'demo-game', version: 'v1' }
const arena: PoolDefinition = {
  name: 'arena',
  deploy,
  places,
  warm: { hit: 0, max: 100 },
  reuse: { maxMatches: 100 },
  at: [{ cron: '* * * * *', minutes: 2, min: WARM_AT_EACH }],
  keepIdleSeconds: 2,
  detourMs: 40,
}

/**
 * Returns the queue with a server for each match, which registers before players are sent, and the queue with the pool.
 */
function queuesOf(queueSize: number): readonly [own: DemoQueue, pool: DemoQueue] {
  const [plain] = demoQueues(queueSize)
  if (plain === undefined) throw new Error('the demo has no queues')
  const { deploy: _, ...definition }: QueueDefinition = plain.definition
  const own = { ...definition, deploy: { ...deploy, probe: { kind: 'registration' as const } } }
  return [
    { ...plain, title: 'a server each', definition: own },
    { ...plain, title: 'a warm pool', definition: { ...definition, pool: arena.name } },
  ]
}

/** Sends the same crowd to two services at the same time. One has a server for each match, the other a warm pool. */
export async function runWarmDemo(
  options: DemoOptions,
  show: Screen['show'],
  interrupted: AbortSignal,
): Promise<WarmResult> {
  const { queueSize = MATCH_SIZE } = options
  const crowd = gather({ ...options, queueSize }, ARRIVE_MS)
  const { arrivals } = crowd
  const placeOf = (ip: string) => crowd.places.get(ip)
  const begunAt = systemClock.now()
  const [ownQueue, poolQueue] = queuesOf(queueSize)
  const common = { options, arrivals, placeOf }
  const own = await startSide({ ...common, queue: ownQueue, pools: [] })
  const pool = await startSide({ ...common, queue: poolQueue, pools: [arena] })
  const sides: readonly Side[] = [own, pool]
  const breathe = createBreather(systemClock.now)
  const report = (phase: Progress['phase']) => show(phase, () => together(sides, phase))
  /** Waits, or returns at once if the demo was interrupted. */
  const pause = (ms: number) => systemClock.sleep(ms, interrupted).catch(() => {})
  const isLate = () => interrupted.aborted || systemClock.now() > begunAt + LONGEST_MS

  for (const { matchmaker } of sides) matchmaker.start()
  const isWarm = () => pool.idle() >= 0.9 * WARM_AT_EACH * places.length || systemClock.now() > begunAt + WARM_UP_MS
  while (!interrupted.aborted && !isWarm()) {
    await pause(LOOK_MS)
    report('matching')
  }
  const startedAt = systemClock.now()
  for (const { afterMs, ticket } of arrivals) {
    const wait = startedAt + afterMs - systemClock.now()
    if (wait > 0) {
      report('matching')
      await pause(wait)
    }
    if (interrupted.aborted) break
    for (const { matchmaker, watch } of sides) watch.came(matchmaker.createTicket(ticket))
    await breathe()
  }
  while (!isLate() && sides.some(({ watch, allOver }) => !watch.allEnded() || !allOver())) {
    await pause(LOOK_MS)
    report('matching')
  }
  const count = () => sides.reduce((sum, { emulator }) => sum + running(emulator).length, 0)
  const interruptedWith = interrupted.aborted ? count() : undefined
  report('stopping')
  await Promise.all(sides.map(({ matchmaker }) => matchmaker.close({ stopServers: true })))
  while (count() > 0 && systemClock.now() < begunAt + LONGEST_MS) await systemClock.sleep(LOOK_MS)
  report('done')
  const result: WarmResult = {
    matchSize: queueSize,
    pricePerHour: PRICE_PER_HOUR,
    own: own.result(),
    pool: pool.result(),
    interruptedWith,
    speed: SPEED,
    seconds: Math.round((systemClock.now() - begunAt) / 100) / 10,
    seed: options.seed,
  }
  for (const side of sides) await side.end()
  return result
}

/** Returns the state of both sides, one below the other. */
function together(sides: readonly Side[], phase: Progress['phase']): Progress {
  const all = sides.map(({ watch }) => watch.progress(phase))
  const sum = (of: (progress: Progress) => number) => all.reduce((total, progress) => total + of(progress), 0)
  return {
    queues: all.flatMap(({ queues }) => queues),
    matches: sum(({ matches }) => matches),
    serversReady: sum(({ serversReady }) => serversReady),
    requests: sum(({ requests }) => requests),
    // No limits are shown, because each side has its own service with its own limits.
    limits: [],
    longest: all.find(({ longest }) => longest !== undefined)?.longest,
    phase,
  }
}
