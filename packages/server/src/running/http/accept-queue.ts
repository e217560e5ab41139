import type { Clock } from '@muster/core/clock'

/**
 * Knows for how long new connections may have waited in the kernel's queue: since that was last seen empty.
 *
 * libuv 1.45 and later accepts one connection a turn of the event loop (public fact). So new connections wait although
 * each turn is short, and the delay of the loop shows nothing of it. A turn that accepts none has found the queue
 * empty: whoever waits afterwards has come since.
 * @param nextTurn runs a function after the event loop has looked for connections once more. Default `setImmediate`.
 */
export function createAcceptQueue(clock: Clock, nextTurn: (look: () => void) => void = setImmediate) {
  let emptyAt: number | undefined
  let hasAccepted = false
  const look = () => {
    if (!hasAccepted) return void (emptyAt = undefined)
    hasAccepted = false
    nextTurn(look)
  }
  return {
    /** A connection was accepted, or refused, just now. */
    accepted: (): void => {
      hasAccepted = true
      if (emptyAt !== undefined) return
      emptyAt = clock.now()
      nextTurn(look)
    },
    /** Milliseconds that a connection in the queue may have waited at most; 0 if there is none as far as is known. */
    waitMs: (): number => (emptyAt === undefined ? 0 : clock.now() - emptyAt),
  }
}
