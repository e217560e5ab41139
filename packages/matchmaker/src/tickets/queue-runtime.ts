import { createPool } from '@muster/kernel'
import { compileQueue } from '../queues/compile.js'
import { createExplain } from '../queues/explain.js'
import { playerMayState, readsLatencies } from '../queues/player-may-state.js'
import type { Queue } from '../queues/queue.js'
import { createCheckEnvironment, toldBy } from './environment-limit.js'
import type { QueueRuntime } from './records.js'
import { createQueueWaits } from '../waits/queue-waits.js'

/** @param failed is told when a custom rule throws. @param before that of the queue which this one replaces. */
export function createQueueRuntime(
  queue: Queue,
  arrived: (runtime: QueueRuntime) => void,
  failed: (error: Error) => void,
  before?: Pick<QueueRuntime, 'waits' | 'isPaused'>,
): QueueRuntime {
  const compiled = compileQueue(queue, failed)
  const waits = before?.waits ?? createQueueWaits()
  const { targetWaitMs } = queue
  waits.aim(targetWaitMs === undefined ? undefined : { targetWaitMs, mostMs: compiled.levels.spanMs })
  const checkEnvironment = createCheckEnvironment(toldBy(queue, compiled.model.teams))
  const runtimes: QueueRuntime[] = []
  const runtime: QueueRuntime = {
    queue,
    alone: { queues: [queue.name], runtimes },
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
    round: undefined,
  }
  runtimes.push(runtime)
  return runtime
}
