import { createPool } from '@muster/kernel'
import {
  compileQueue,
  createExplain,
  playerMayState,
  type PlayerMayState,
  readsLatencies,
  type Queue,
} from '../queues/index.js'
import { createQueueWaits } from '../wait-times/index.js'
import { createCheckEnvironment, serverSettingsOf } from './limits.js'
import type { QueueRuntime } from './ticket-record.js'

/**
 * Creates the runtime of a queue.
 * @param failed called when a custom rule throws.
 * @param before the runtime of the queue that this one replaces.
 */
export function createQueueRuntime(
  queue: Queue,
  arrived: (runtime: QueueRuntime) => void,
  failed: (error: Error) => void,
  before?: Pick<QueueRuntime, 'waits' | 'isPaused' | 'isShort'>,
): QueueRuntime {
  const compiled = compileQueue(queue, failed)
  const waits = before?.waits ?? createQueueWaits()
  const { targetWaitMs } = queue
  waits.aim(targetWaitMs === undefined ? undefined : { targetWaitMs, mostMs: compiled.levels.spanMs })
  const checkEnvironment = createCheckEnvironment(serverSettingsOf(queue, compiled.model.teams))
  const runtimes: QueueRuntime[] = []
  const runtime: QueueRuntime = {
    queue,
    alone: { queues: Object.freeze<[string]>([queue.name]), runtimes },
    compiled,
    entryOf: (ticket) => {
      checkEnvironment(ticket)
      return compiled.entryOf(ticket)
    },
    checkEnvironment,
    playerMayState: playerMayState(queue),
    readsLatencies: readsLatencies(queue),
    largestParty: Math.max(...compiled.model.teams.map(({ max }) => max)),
    pool: createPool(compiled.model),
    explain: createExplain(compiled),
    waits,
    records: [],
    backfills: [],
    arrivals: new Set(),
    arrived,
    isPaused: before?.isPaused ?? false,
    isShort: before?.isShort ?? false,
    round: undefined,
  }
  runtimes.push(runtime)
  return runtime
}

/** Facts about the current queues, as methods of a matchmaker; see `Matchmaker`. */
export interface QueueFacts {
  playerMayState(queue: string): PlayerMayState | undefined
  readsLatencies(queue: string): boolean
  largestParty(queue: string): number | undefined
  presenceWithinMs(queue: string): number | undefined
  queueNames(): readonly string[]
}

export const createQueueFacts = (runtimes: () => ReadonlyMap<string, QueueRuntime>): QueueFacts => ({
  playerMayState: (queue) => runtimes().get(queue)?.playerMayState,
  readsLatencies: (queue) => runtimes().get(queue)?.readsLatencies ?? false,
  largestParty: (queue) => runtimes().get(queue)?.largestParty,
  presenceWithinMs: (queue) => runtimes().get(queue)?.queue.presence?.withinMs,
  queueNames: () => [...runtimes().keys()],
})
