import type { Clock } from '@muster/core/clock'
import { createTicker } from '@muster/core/runtime'
import type { LimitTimes } from './times.js'
import type { TokenStore } from './token-store.js'
import { createUnproven, type Written } from './unproven.js'

/**
 * Tells the store what becomes of the requests. Nobody waits for it: a report that fails or comes late only keeps a
 * token out for longer.
 */
export interface Reports {
  written(request: Written): void
  answered(request: Written): void
  lost(request: Written): void
  unused(id: string, dueMs: number): void
  close(): Promise<void>
}

const EVERY_MS = 250

export function createReports(store: TokenStore, clock: Clock, times: LimitTimes): Reports {
  const unproven = createUnproven(times)
  const keep = async () => {
    const due = unproven.due(clock.now())
    if (due.length === 0) return
    const asked = clock.now()
    await store.keep(due.map(({ id }) => id))
    for (const request of due) request.keptUntil = asked + times.holdMs
  }
  const ticker = createTicker({
    clock,
    everyMs: EVERY_MS,
    tick: () => keep().catch(ignored),
    isNeeded: () => unproven.size() > 0,
  })

  return {
    written: (request) => {
      unproven.written(request)
      ticker.wake()
    },
    answered: (request) => {
      const proven = unproven.answered(request)
      store.counted([request.id]).catch(ignored)
      if (proven.length > 0) store.settle(proven).catch(ignored)
    },
    lost: (request) => unproven.lost(request, clock.now()),
    unused: (id, dueMs) => void store.unused(id, dueMs).catch(ignored),
    close: () => ticker.stop(),
  }
}

const ignored = () => {}
