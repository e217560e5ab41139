import { InvalidInput } from '@muster/core'
import { seededRandom, systemClock } from '@muster/core/clock'
import { callable, having, read } from '@muster/core/internal'
import {
  createMatchmaker,
  type Inspection,
  type Matchmaker,
  type PoolDefinition,
  type Queue,
  type QueueDefinition,
} from '@muster/matchmaker'
import { type AllocationView, definePools, defineQueues, type ServerPool } from '@muster/matchmaker/internal'
import { z } from 'zod'
import type { Crowd } from '../crowd/index.js'
import type { RatingBook } from '../ratings/rating-book.js'
import { CrowdLife } from './crowd-life.js'
import { playGameServer } from './game-server.js'
import { createMeteredService, type MeteredService } from './metered-service.js'
import type { RunOutcome, ServerUse } from './outcome.js'
import { createVirtualClock, type VirtualClock } from './virtual-clock.js'

export interface RunOptions {
  /** The pools that queues name. Default: each match has its own server, even if its queue names a pool. */
  readonly pools?: readonly PoolDefinition[] | undefined
  /** Seed of the ids: a whole number from 0. Default 1. */
  readonly seed?: number | undefined
  /** Milliseconds between two ticks. Default 250, as in a matchmaker. */
  readonly tickMs?: number | undefined
  /**
   * Milliseconds from create to READY of every server. A server of a pool then registers. Default 5000 (our choice).
   */
  readonly startMs?: number | undefined
  /**
   * Ratings, which decide the winners of matches and change with the results. Default: players keep the crowd's
   * attributes, and no match has a winner.
   */
  readonly ratings?: RatingBook | undefined
  /** Aborting this signal ends the run, which then rejects with `signal.reason`. */
  readonly signal?: AbortSignal | undefined
  /** Called regularly with the share of ended visits, from 0 to 1, and with 1 at the end. */
  readonly progressed?: ((share: number) => void) | undefined
}

const schema = z.strictObject({
  seed: z.int().min(0).default(1),
  tickMs: z.int().min(1).max(60_000).default(250),
  startMs: z.int().min(0).max(600_000).default(5000),
  ratings: having<RatingBook>('queued', 'played').optional(),
  signal: z.instanceof(AbortSignal, { error: 'must be an AbortSignal' }).optional(),
  progressed: callable<(share: number) => void>().optional(),
})

/** Returns the options with all defaults. @throws {InvalidInput} naming the option and the value. */
const readRunOptions = (options: Omit<RunOptions, 'pools'>): z.infer<typeof schema> =>
  read(schema, options, (field, fieldAndFault) => new InvalidInput(`option ${fieldAndFault}`, { field }))

/** Milliseconds after the crowd's duration at which a run ends, even if players still wait or play. */
const LONGEST_AFTER_MS = 86_400_000
/** Milliseconds between two ticks while servers run but nobody waits. These ticks apply the time limits of matches. */
const IDLE_TICK_MS = 30_000
/** Milliseconds between two ticks while nobody waits, if there are pools. Pools check their stock at this interval. */
const POOLS_TICK_MS = 1000
/**
 * Tick interval of the matchmaker, longer than any run: the run itself makes the ticks, and skips those without work.
 */
const NO_TICKS_MS = 2 ** 31 - 1
/** Maximum number of status reads per second, so high that it never delays a read. */
const MOST_READS = 1_000_000
/** Maximum number of queues in one ticket. */
const MOST_QUEUES = 16
/** Milliseconds of real time after which the event loop runs once, e.g. so that a signal can be aborted. */
const STRETCH_MS = 20
/** Milliseconds by which the clock advances in each step while the matchmaker closes. */
const CLOSING_STEP_MS = 100

/** The URL to which servers of pools would report. It is never used, because a run has no network. */
const API_URL = 'http://lab.invalid'

/**
 * Runs the real matchmaker over a crowd, on virtual time, with a simulated service that has capacity for all matches.
 * Servers of pools register, accept matches and wait for further ones, like game servers. The same crowd, queues,
 * options and version have the same outcome on every machine.
 * @throws {InvalidInput} naming the option, or the fault of the crowd; {InvalidQueue}. Nothing has run then.
 */
export async function runCrowd(
  crowd: Crowd,
  definitions: readonly QueueDefinition[],
  { pools: given, ...options }: RunOptions = {},
): Promise<RunOutcome> {
  const { seed, tickMs, startMs, ratings, signal, progressed } = readRunOptions(options)
  const { queues: defined, pools } = defineLabQueues(definitions, given)
  const queues = defined.map(inTheLab)
  assertRunnable(crowd, queues)
  assertStartsInTime(queues, startMs)

  const { startsAt, durationMs } = crowd.header
  const clock = createVirtualClock(startsAt)
  const metered = createMeteredService(clock, startMs, ({ requestId, token }) => {
    matchmaker.hint(requestId)
    if (token !== undefined) void playGameServer(matchmaker, token, clock)
  })
  const matchmaker: Matchmaker = createMatchmaker({
    deployments: metered.service,
    queues,
    pools,
    apiUrl: API_URL,
    clock,
    random: seededRandom(seed),
    tickMs: NO_TICKS_MS,
    tickBudgetMs: Infinity,
    maxServers: Infinity,
    maxStarting: Infinity,
    maxServersPerPlayer: Infinity,
    maxCreatesInFlight: Infinity,
    readsPerSecond: MOST_READS,
    endedTicketTtlMs: 0,
    // The stopwatch is constant, so that no round is ended early, however slow the machine is.
    stopwatch: () => 0,
  })
  const life = new CrowdLife({ crowd, queues, matchmaker, clock, ratings })

  // Queues of mode `arrival` make matches only between `start` and `stop`.
  matchmaker.start()
  const end = startsAt + durationMs + LONGEST_AFTER_MS
  const pace = createPace(life, signal, progressed)
  let tickedAt = -tickMs
  /** True if a warm server has been taken since the last tick. The next tick replaces it. */
  let isTaken = false
  matchmaker.on('serverTaken', () => {
    isTaken = true
  })
  /** Returns the milliseconds until the next tick; Infinity while there is no work. */
  const gap = () => {
    if (life.waiting() > 0 || isTaken) return tickMs
    if (pools.length > 0) return POOLS_TICK_MS
    return metered.running() > 0 ? IDLE_TICK_MS : Infinity
  }
  for (;;) {
    signal?.throwIfAborted()
    await clock.settle()
    const tickAt = Math.ceil(Math.max(tickedAt + gap(), clock.now() - startsAt) / tickMs) * tickMs
    const due = startsAt + Math.min(tickAt, life.nextAt())
    if (due > end || life.isOver()) break
    // The clock stops at each sleeper, because a player whose sleep ends may act before the next due action.
    const at = Math.min(due, clock.nextAt())
    await clock.reach(at)
    while (startsAt + life.nextAt() <= at) life.act()
    if (startsAt + tickAt <= at) {
      tickedAt = tickAt
      isTaken = false
      await matchmaker.tick()
    }
    await pace()
  }
  life.stop()
  const idle = matchmaker.inspect().pools
  await untilSettled(matchmaker.close({ stopServers: true }), clock)
  progressed?.(1)
  return {
    tickets: life.tickets(),
    matches: life.matches(),
    ...serversOf(metered, idle),
    requests: metered.requests(),
    endedAt: clock.now() - startsAt,
  }
}

/**
 * Validates queues and the pools that they name.
 * @param pools if undefined, each match has its own server, even if its queue names a pool.
 * @throws {InvalidInput} naming the pool; {InvalidQueue} naming the queue
 */
export function defineLabQueues(
  definitions: readonly QueueDefinition[],
  pools: readonly PoolDefinition[] | undefined,
): { readonly queues: readonly Queue[]; readonly pools: readonly ServerPool[] } {
  // Sources and enrolment keys are removed, because the simulated service starts all servers.
  const defined = definePools(pools ?? []).map((pool): ServerPool => ({ ...pool, source: undefined, enrol: [] }))
  const named = pools === undefined ? definitions.map((queue) => ({ ...queue, pool: undefined })) : definitions
  return { queues: defineQueues(named, defined), pools: defined }
}

/**
 * Returns the queue without presence and probes. Neither is needed, because a crowd's players are always present, and
 * its servers listen once they are READY. Without probes, a run needs no network.
 */
export const inTheLab = (queue: Queue): Queue => ({
  ...queue,
  presence: undefined,
  deploy: { ...queue.deploy, probe: undefined },
})

/** Checks that the crowd can be run over the queues. @throws {InvalidInput} */
function assertRunnable({ parties }: Crowd, queues: readonly Queue[]): void {
  if (parties.length === 0) throw new InvalidInput('crowd: has no parties', { field: 'parties' })
  if (queues.length > MOST_QUEUES && parties.some((party) => party.queues === undefined)) {
    const message = `queues: must be at most ${MOST_QUEUES} for parties that want any, got ${queues.length}`
    throw new InvalidInput(message, { field: 'queues' })
  }
  for (const [index, { at, players, visits }] of parties.entries()) {
    const times = visits.flatMap(({ patienceMs, playMs, breakMs = 0 }) => [patienceMs, playMs, breakMs])
    const isRight = players.length > 0 && visits.length > 0 && [at, ...times].every((ms) => ms >= 0 && ms < Infinity)
    if (isRight) continue
    const message = `crowd: party ${index} needs players, visits, and times that are milliseconds from 0`
    throw new InvalidInput(message, { field: `parties.${index}` })
  }
}

/**
 * Checks that servers start in time. A server that is READY too late would count as failed, and no match could start.
 * @throws {InvalidInput}
 */
function assertStartsInTime(queues: readonly Queue[], startMs: number): void {
  const late = queues.find(({ deploy }) => startMs >= deploy.readyTimeoutMs)
  if (late === undefined) return
  const queue = JSON.stringify(late.name)
  const message = `option startMs: must be less than readyTimeoutMs of queue ${queue}, got ${startMs}`
  throw new InvalidInput(message, { field: 'startMs' })
}

/** Returns the use of servers. @param places where servers of pools were idle. */
function serversOf(metered: MeteredService, places: Inspection['pools']): Pick<RunOutcome, 'servers' | 'pools'> {
  const idleSeconds = (those: Inspection['pools']) =>
    Math.round(those.reduce((sum, { idleHours }) => sum + idleHours, 0) * 3_600_000) / 1000
  const pools = Array.from(metered.pools(), ([name, use]): [string, ServerUse] => [
    name,
    { ...use, idleSeconds: idleSeconds(places.filter(({ pool }) => pool === name)) },
  ])
  return { servers: { ...metered.servers(), idleSeconds: idleSeconds(places) }, pools: Object.fromEntries(pools) }
}

/**
 * Creates the function that lets the event loop run regularly, reports progress, and throws if the signal is aborted.
 */
function createPace(
  life: CrowdLife,
  signal: AbortSignal | undefined,
  progressed: RunOptions['progressed'],
): () => Promise<void> {
  let steps = 0
  let restedAt = systemClock.now()
  let reported = 0
  return async () => {
    steps += 1
    if (steps % 64 !== 0 || systemClock.now() - restedAt < STRETCH_MS) return
    await new Promise<void>((resolve) => setImmediate(resolve))
    signal?.throwIfAborted()
    restedAt = systemClock.now()
    const share = life.share()
    if (share < reported + 0.005) return
    reported = share
    progressed?.(share)
  }
}

/** Advances the clock until the matchmaker has closed and all stops are confirmed. */
async function untilSettled(closing: Promise<readonly AllocationView[]>, clock: VirtualClock): Promise<void> {
  const state: { left?: readonly AllocationView[] } = {}
  void closing.then((left) => (state.left = left))
  for (await clock.settle(); state.left === undefined; await clock.settle())
    await clock.reach(clock.now() + CLOSING_STEP_MS)
  if (state.left.length > 0) throw new Error(`the run has ended, but ${state.left.length} servers were not stopped`)
}
