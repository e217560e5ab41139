import type { Coordinates } from '@muster/core'
import type { Clock } from '@muster/core/clock'
import { whenKnown, type Awaitable } from '@muster/core/runtime'
import type { QueueWait } from '../matches/matchmaker.js'
import type { Locate } from '../tickets/locate/mmdb-locate.js'
import { regionIn } from '../wait-times/regions.js'
import { isBackend, type TicketCaller } from './caller.js'
import { stepOf } from './count-steps.js'
import { placeOf } from './measured.js'
import type { TicketService } from './service.js'
import { queueWaitView, type QueueWaitView } from './wait-views.js'

/** Milliseconds for which an answer is given to all callers of a region. */
const GOOD_MS = 1000

export interface QueueOverview {
  readonly queues: readonly QueueWaitView[]
}

export interface QueueOverviewOptions {
  readonly service: Pick<TicketService, 'queueWaits'>
  readonly locate: Locate | undefined
  readonly clock: Pick<Clock, 'now'>
}

/**
 * Creates the function that tells of all queues. A player's answer holds for the region of the player's address, and
 * how many wait in steps; a backend's for all, and how many exactly.
 */
export function createQueueOverview({
  service,
  locate,
  clock,
}: QueueOverviewOptions): (caller: TicketCaller, address: string | undefined) => Awaitable<QueueOverview> {
  /** The last answer for each region; there are few regions. */
  const answers = new Map<number, { readonly at: number; readonly waits: Awaitable<readonly QueueWait[]> }>()

  const waitsAt = (place: Coordinates | undefined): Awaitable<readonly QueueWait[]> => {
    const now = clock.now()
    const region = regionIn(place)
    const last = answers.get(region)
    if (last !== undefined && now - last.at < GOOD_MS) return last.waits
    const waits = service.queueWaits(place)
    const answer = { at: now, waits }
    answers.set(region, answer)
    // An answer that failed is not given again.
    if (waits instanceof Promise)
      waits.catch(() => {
        if (answers.get(region) === answer) answers.delete(region)
      })
    return waits
  }

  return (caller, address) => {
    const backend = isBackend(caller)
    const shown = backend ? (count: number) => count : stepOf
    return whenKnown(placeOf(backend ? undefined : address, locate), (place) =>
      whenKnown(waitsAt(place), (waits) => ({ queues: waits.map((one) => queueWaitView(one, shown)) })),
    )
  }
}
