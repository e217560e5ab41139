import type { Clock } from '@muster/core/clock'
import { unknownQueue } from '../errors.js'
import type { Events } from '../events.js'
import type { QueueRuntime } from '../tickets/records.js'
import type { Matchmaker } from './matchmaker.js'

export interface PausingOptions {
  /** By name. */
  readonly runtimes: () => ReadonlyMap<string, QueueRuntime>
  readonly events: Pick<Events, 'emit'>
  readonly clock: Pick<Clock, 'now'>
}

/** Creates the commands that hold up the matches of a queue, and let them go on. */
export function createPausing({
  runtimes,
  events,
  clock,
}: PausingOptions): Pick<Matchmaker, 'pauseQueue' | 'resumeQueue'> {
  const set = (queue: string, isPaused: boolean) => {
    const known = runtimes()
    const runtime = known.get(queue)
    if (runtime === undefined) throw unknownQueue(queue, [...known.keys()])
    if (runtime.isPaused === isPaused) return
    runtime.isPaused = isPaused
    runtime.waits.setPaused(isPaused, clock.now())
    // What it has found so far is out of date when the queue goes on.
    runtime.round = undefined
    events.emit(isPaused ? 'queuePaused' : 'queueResumed', { queue })
  }
  return {
    pauseQueue: (queue) => set(queue, true),
    resumeQueue: (queue) => set(queue, false),
  }
}
