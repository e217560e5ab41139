import { unlessAborted } from '@muster/core/runtime'

/** Callers of this process that wait for a ticket to change. */
export interface Waits {
  /** The next change of a ticket: begun before the ticket is read, no change is missed. */
  begin(ticketId: string): Wait
  /** These tickets have changed. */
  wake(ticketIds: Iterable<string>): void
  /** Any ticket may have changed. */
  wakeAll(): void
  size(): number
}

export interface Wait {
  /** Resolves at the next change. Rejects with the signal's reason. */
  changed(signal: AbortSignal | undefined): Promise<void>
  end(): void
}

export function createWaits(): Waits {
  const waiting = new Map<string, Set<() => void>>()

  const wake = (ticketId: string) => {
    const waiters = waiting.get(ticketId)
    waiting.delete(ticketId)
    for (const tell of waiters ?? []) tell()
  }

  return {
    begin: (ticketId) => {
      let tell = () => {}
      const changed = new Promise<void>((resolve) => {
        tell = resolve
      })
      const waiters = waiting.get(ticketId) ?? new Set()
      waiting.set(ticketId, waiters)
      waiters.add(tell)
      return {
        changed: (signal) => (signal === undefined ? changed : unlessAborted(changed, signal)),
        end: () => {
          waiters.delete(tell)
          if (waiters.size === 0 && waiting.get(ticketId) === waiters) waiting.delete(ticketId)
        },
      }
    },
    wake: (ticketIds) => {
      for (const ticketId of ticketIds) if (waiting.has(ticketId)) wake(ticketId)
    },
    wakeAll: () => {
      for (const ticketId of waiting.keys()) wake(ticketId)
    },
    size: () => waiting.size,
  }
}
