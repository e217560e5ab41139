import type { Clock } from '@muster/core/clock'

/**
 * Measures how long new connections may have waited in the kernel's queue: since the queue was last seen empty.
 *
 * libuv 1.45 and later accepts one connection a turn of the event loop (public fact). So new connections may wait
 * although each turn is short, and the delay of the loop does not show it. A turn that accepts none has found the queue
 * empty: connections that wait afterwards have arrived since.
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
    /** Maximum milliseconds that a connection in the queue may have waited; 0 if none is known. */
    waitMs: (): number => (emptyAt === undefined ? 0 : clock.now() - emptyAt),
  }
}
