import { InvalidInput, NotFound } from '@muster/core'
import type { Clock } from '@muster/core/clock'
import { read } from '@muster/core/internal'
import { z } from 'zod'
import type { Allocator, ResultOutbox } from '@muster/hosting/internal'
import { unknownPool, unknownQueue } from '../errors.js'
import type { Events } from '../events.js'
import type { Cooldown, Cooldowns, QueueRuntime } from '../tickets/index.js'
import type { ResultCommands } from './inspection.js'
import type { Matchmaker } from './matchmaker.js'

interface PausingOptions {
  /** Returns the queues in operation by name. */
  readonly runtimes: () => ReadonlyMap<string, QueueRuntime>
  readonly pools: Pick<Allocator['pools'], 'isPaused' | 'setPaused'>
  readonly events: Pick<Events, 'emit'>
  readonly clock: Pick<Clock, 'now'>
}

/** Creates the commands that pause and resume a queue or a pool. */
export function createPauseCommands({
  runtimes,
  pools,
  events,
  clock,
}: PausingOptions): Pick<Matchmaker, 'pauseQueue' | 'resumeQueue' | 'pausePool'> {
  const set = (queue: string, isPaused: boolean) => {
    const known = runtimes()
    const runtime = known.get(queue)
    if (runtime === undefined) throw unknownQueue(queue, [...known.keys()])
    if (runtime.isPaused === isPaused) return
    runtime.isPaused = isPaused
    runtime.waits.setPaused(isPaused, clock.now())
    // The running round is dropped, because its results would be outdated once the queue resumes.
    runtime.round?.drop()
    runtime.round = undefined
    events.emit(isPaused ? 'queuePaused' : 'queueResumed', { queue })
  }
  return {
    pauseQueue: (queue) => set(queue, true),
    resumeQueue: (queue) => set(queue, false),
    pausePool: (pool, paused) => {
      const before = pools.isPaused(pool)
      if (before === undefined) throw unknownPool(pool)
      if (before === paused) return
      pools.setPaused(pool, paused)
      events.emit('poolPaused', { pool, paused })
    },
  }
}

/**
 * Creates the commands about results that were set aside.
 * @param results undefined if no results are sent to a backend
 */
export function createResultCommands(
  results: Pick<ResultOutbox, 'setAside' | 'repeat' | 'drop'> | undefined,
): ResultCommands {
  const unlessUnknown = (matchId: string, isKnown: boolean | undefined) => {
    if (isKnown !== true)
      throw new NotFound(`There is no result of match ${JSON.stringify(matchId)} that was set aside.`)
  }
  return {
    resultsSetAside: () => results?.setAside() ?? [],
    repeatResult: (matchId) => unlessUnknown(matchId, results?.repeat(matchId)),
    dropResult: (matchId) => unlessUnknown(matchId, results?.drop(matchId)),
  }
}

const schema: z.ZodType<readonly Cooldown[]> = z.array(
  z.strictObject({
    playerId: z.string().min(1).max(128),
    name: z.string().min(1).max(64),
    offences: z.int().min(1),
    until: z.number().min(0),
    forgiveAfterMs: z.number().positive(),
  }),
)

interface CooldownCommandsOptions {
  readonly cooldowns: Cooldowns
  readonly events: Pick<Events, 'emit'>
  readonly clock: Pick<Clock, 'now'>
}

/** Creates the backends' commands about cooldowns of players. */
export const createCooldownCommands = ({
  cooldowns,
  events,
  clock,
}: CooldownCommandsOptions): Pick<Matchmaker, 'cooldownsOf' | 'forgive' | 'exportCooldowns' | 'importCooldowns'> => ({
  cooldownsOf: (playerId) => cooldowns.of(playerId, clock.now()),
  forgive: (playerId) => {
    if (cooldowns.forgive(playerId, clock.now())) events.emit('cooldownForgiven', { playerId })
  },
  exportCooldowns: () => cooldowns.all(clock.now()),
  importCooldowns: (given) => {
    const checked = read(
      schema,
      given,
      (field, fieldAndFault) => new InvalidInput(`cooldowns: ${fieldAndFault}`, { field }),
    )
    cooldowns.load(checked, clock.now())
  },
})
