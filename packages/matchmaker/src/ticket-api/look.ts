import type { Clock } from '@muster/core/clock'
import type { Awaitable } from '@muster/core/runtime'
import type { Inspection } from '../matches/inspection.js'
import type { TicketService } from './service.js'

/** Milliseconds for which an inspection is reused: it reads all tickets, and any caller can ask for one. */
const GOOD_MS = 1000

/** Returns the matchmaker's state, at most a second old. An inspection that fails is not reused. */
export function createLook(service: Pick<TicketService, 'inspect'>, clock: Clock): () => Awaitable<Inspection> {
  let last: { readonly inspection: Awaitable<Inspection>; readonly at: number } | undefined
  return () => {
    const now = clock.now()
    if (last === undefined || now - last.at >= GOOD_MS) {
      const inspection = service.inspect()
      const look = { inspection, at: now }
      last = look
      if (inspection instanceof Promise)
        inspection.catch(() => {
          if (last === look) last = undefined
        })
    }
    return last.inspection
  }
}
