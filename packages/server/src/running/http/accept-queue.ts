import type { Clock } from '@muster/core/clock'

/**
 * Measures for how long new connections may have waited in the kernel's queue: the time since the queue was last empty.
 *
 * libuv 1.45 and later accepts one connection in each turn of the event loop (public fact). So connections may wait
 * although each turn is short, and the delay of the event loop does not show this wait. A turn that accepts no
 * connection proves that the queue is empty.
 * @param nextTurn runs a function after the event loop has polled for connections once more. Default `setImmediate`.
 */
export function createAcceptQueue(clock: Clock, nextTurn: (turn: () => void) => void = setImmediate) {
  let emptyAt: number | undefined
  let hasAccepted = false
  const measure = () => {
    if (!hasAccepted) return void (emptyAt = undefined)
    hasAccepted = false
    nextTurn(measure)
  }
  return {
    /** Records that a connection was just accepted or refused. */
    accepted: (): void => {
      hasAccepted = true
      if (emptyAt !== undefined) return
      emptyAt = clock.now()
      nextTurn(measure)
    },
    /** Returns the maximum milliseconds that a connection in the queue may have waited; 0 if the queue is empty. */
    waitMs: (): number => (emptyAt === undefined ? 0 : clock.now() - emptyAt),
  }
}
