import type { OperationId } from '../api/api.js'
import { ClientClosed } from './errors.js'

/** Whether the client still accepts calls, and which work is unfinished. */
export interface Lifetime {
  /** @throws {ClientClosed} once `close` was called. */
  assertOpen(id: OperationId): void
  /** Notes the beginning of work for whose end `close` waits. */
  begin(): void
  end(): void
  /** Accepts no more calls; resolves when all work has ended. */
  close(): Promise<void>
}

export function createLifetime(): Lifetime {
  let running = 0
  let ended: (() => void) | undefined
  let closed: Promise<void> | undefined

  return {
    assertOpen: (id) => {
      if (closed !== undefined) throw new ClientClosed(`${id}: the client is closed`, { operation: id, sent: false })
    },
    begin: () => {
      running += 1
    },
    end: () => {
      running -= 1
      if (running === 0) ended?.()
    },
    close: () =>
      (closed ??= new Promise((resolve) => {
        ended = resolve
        if (running === 0) resolve()
      })),
  }
}
