import { type AbortListener, listenToAbort, stopListeningToAbort } from '@muster/core/internal'
import { ticketOf, type TicketRecord } from './ticket-record.js'
import type { Ticket } from './ticket.js'

/** Callers that wait for a ticket to change. */
export interface ChangeListeners {
  /** Resolves with the ticket when `changed` is called. Rejects with `signal.reason`. */
  wait(record: TicketRecord, signal: AbortSignal | undefined): Promise<Ticket>
  changed(record: TicketRecord): void
  /** Rejects all waiting callers. */
  end(error: Error): void
}

interface ChangeWaiter {
  readonly notify: (ticket: Ticket) => void
  readonly failed: (error: Error) => void
  readonly signal: AbortSignal | undefined
  readonly aborted: AbortListener
}

export function createChangeListeners(): ChangeListeners {
  const waiting = new Map<TicketRecord, Set<ChangeWaiter>>()

  return {
    wait: (record, signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted === true) return reject(signal.reason as Error)
        const waiters = waiting.get(record) ?? new Set()
        const aborted = {
          handleEvent: () => {
            waiters.delete(waiter)
            if (waiters.size === 0 && waiting.get(record) === waiters) waiting.delete(record)
            reject(signal?.reason as Error)
          },
        }
        const waiter: ChangeWaiter = { notify: resolve, failed: reject, signal, aborted }
        if (signal !== undefined) listenToAbort(signal, aborted)
        waiters.add(waiter)
        waiting.set(record, waiters)
      }),

    changed: (record) => {
      if (waiting.size === 0) return
      const waiters = waiting.get(record)
      if (waiters === undefined) return
      waiting.delete(record)
      const ticket = ticketOf(record)
      for (const { notify, signal, aborted } of waiters) {
        if (signal !== undefined) stopListeningToAbort(signal, aborted)
        notify(ticket)
      }
    },

    end: (error) => {
      const all = [...waiting.values()].flatMap((waiters) => [...waiters])
      waiting.clear()
      for (const { failed, signal, aborted } of all) {
        if (signal !== undefined) stopListeningToAbort(signal, aborted)
        failed(error)
      }
    },
  }
}
