/** A listener that is called when its signal is aborted. */
export interface AbortListener {
  readonly handleEvent: () => void
}

/** All listeners of one signal. It is a class instead of a closure, so that the signal holds only one object. */
class Listeners {
  readonly all = new Set<AbortListener>()

  handleEvent(): void {
    for (const listener of this.all) listener.handleEvent()
  }
}

const bySignal = new WeakMap<AbortSignal, Listeners>()

/**
 * Adds a listener to a signal. All listeners share one listener of the signal itself. A signal may end a whole batch of
 * calls, but Node.js warns of a leak from eleven listeners on.
 */
export function listenToAbort(signal: AbortSignal, listener: AbortListener): void {
  const known = bySignal.get(signal)
  const listeners = known ?? new Listeners()
  listeners.all.add(listener)
  if (known !== undefined) return
  bySignal.set(signal, listeners)
  signal.addEventListener('abort', listeners, { once: true })
}

/** Removes a listener. After the last one, the signal's own listener is removed too. */
export function stopListeningToAbort(signal: AbortSignal, listener: AbortListener): void {
  const listeners = bySignal.get(signal)
  listeners?.all.delete(listener)
  if (listeners === undefined || listeners.all.size > 0) return
  bySignal.delete(signal)
  signal.removeEventListener('abort', listeners)
}
