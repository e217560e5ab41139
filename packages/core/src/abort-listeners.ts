/** Called when a signal is aborted. */
export interface AbortListener {
  readonly handleEvent: () => void
}

/** All who listen to one signal. A class, so that the signal holds one object and no closure. */
class Listeners {
  readonly all = new Set<AbortListener>()

  handleEvent(): void {
    for (const listener of this.all) listener.handleEvent()
  }
}

const bySignal = new WeakMap<AbortSignal, Listeners>()

/**
 * Listens to a signal by one listener for all: a signal that ends a whole batch of calls is in order, but node warns of
 * more than ten listeners as of a leak.
 */
export function listenToAbort(signal: AbortSignal, listener: AbortListener): void {
  const known = bySignal.get(signal)
  const listeners = known ?? new Listeners()
  listeners.all.add(listener)
  if (known !== undefined) return
  bySignal.set(signal, listeners)
  signal.addEventListener('abort', listeners, { once: true })
}

/** The last one to leave takes the one listener away. */
export function stopListeningToAbort(signal: AbortSignal, listener: AbortListener): void {
  const listeners = bySignal.get(signal)
  listeners?.all.delete(listener)
  if (listeners === undefined || listeners.all.size > 0) return
  bySignal.delete(signal)
  signal.removeEventListener('abort', listeners)
}
