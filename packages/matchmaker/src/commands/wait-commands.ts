import type { Clock } from '@muster/core/clock'
import type { QueueRuntime } from '../tickets/records.js'
import type { Tickets } from '../tickets/tickets.js'
import { estimateOf, type Curve } from '../waits/curve.js'
import type { Matchmaker } from './matchmaker.js'
import type { LearnedWaits } from './queue-wait.js'

export interface WaitCommands extends Pick<Matchmaker, 'estimateWait' | 'queueWaits'> {
  /** What `estimateWait` and `queueWaits` know, for processes that do not match themselves. */
  learnedWaits(): readonly LearnedWaits[]
}

export interface Estimating {
  readonly tickets: Pick<Tickets, 'find'>
  readonly runtimes: () => ReadonlyMap<string, QueueRuntime>
  readonly clock: Pick<Clock, 'now'>
}

/** Commands that tell how long tickets wait. Each is cheap enough for every request. */
export function createEstimating({ tickets, runtimes, clock }: Estimating): WaitCommands {
  return {
    estimateWait: (ticketId) => {
      const record = tickets.find(ticketId)
      if (record?.waits === undefined) return undefined
      const now = clock.now()
      const kind = { place: record.place, players: record.players.length }
      let curves: Curve[] | undefined
      for (const { waits } of record.runtimes) {
        const curve = waits.survey(now).ofKind(kind)
        if (curve !== undefined) (curves ??= []).push(curve)
      }
      return curves && estimateOf(curves, now - record.createdAt)
    },

    queueWaits: (place) => {
      const now = clock.now()
      return Array.from(runtimes(), ([queue, { waits, isPaused: paused }]) => {
        const curve = waits.survey(now).ofPlace(place)
        return { queue, ...waits.count(), paused, estimate: curve && estimateOf([curve], 0) }
      })
    },

    learnedWaits: () =>
      Array.from(runtimes(), ([queue, { waits, isPaused: paused }]) => ({
        queue,
        ...waits.count(),
        paused,
        curves: waits.survey(clock.now()).learned(),
      })),
  }
}
