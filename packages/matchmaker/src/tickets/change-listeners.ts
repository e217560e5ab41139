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
  readonly aborted: () => void
}

export function createChangeListeners(): ChangeListeners {
  const waiting = new Map<TicketRecord, Set<ChangeWaiter>>()

  return {
    wait: (record, signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted === true) return reject(signal.reason as Error)
        const waiters = waiting.get(record) ?? new Set()
        waiting.set(record, waiters)
        const waiter: ChangeWaiter = {
          notify: resolve,
          failed: reject,
          signal,
          aborted: () => {
            waiters.delete(waiter)
            if (waiters.size === 0 && waiting.get(record) === waiters) waiting.delete(record)
            reject(signal?.reason as Error)
          },
        }
        waiters.add(waiter)
        signal?.addEventListener('abort', waiter.aborted, { once: true })
      }),

    changed: (record) => {
      if (waiting.size === 0) return
      const waiters = waiting.get(record)
      if (waiters === undefined) return
      waiting.delete(record)
      const ticket = ticketOf(record)
      for (const { notify, signal, aborted } of waiters) {
        signal?.removeEventListener('abort', aborted)
        notify(ticket)
      }
    },

    end: (error) => {
      const all = [...waiting.values()].flatMap((waiters) => [...waiters])
      waiting.clear()
      for (const { failed, signal, aborted } of all) {
        signal?.removeEventListener('abort', aborted)
        failed(error)
      }
    },
  }
}
