import type { Clock } from '@muster/core/clock'
import type { Inspection } from '../commands/inspection.js'
import type { TicketService } from './service.js'

/** Milliseconds for which an inspection is reused: it reads all tickets, and any caller can ask for one. */
const GOOD_MS = 1000

/** Returns the matchmaker's state, at most a second old. */
export function createLook(service: Pick<TicketService, 'inspect'>, clock: Clock): () => Inspection {
  let last: { readonly inspection: Inspection; readonly at: number } | undefined
  return () => {
    const now = clock.now()
    if (last === undefined || now - last.at >= GOOD_MS) last = { inspection: service.inspect(), at: now }
    return last.inspection
  }
}

