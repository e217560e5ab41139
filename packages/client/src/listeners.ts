/**
 * Calls a listener of the game. If the listener throws, its error is reported as unhandled, and the client continues.
 */
export function tell<Told>(listener: (told: Told) => void, told: Told): void {
  try {
    listener(told)
  } catch (error) {
    void Promise.reject(error)
  }
}

/** Listeners that are called with each new state. */
export function createListeners<Told>() {
  const listeners = new Set<(told: Told) => void>()
  return {
    /** Returns a function that removes the listener. */
    subscribe: (listener: (told: Told) => void) => {
      // A function may be subscribed several times. Ending one subscription leaves the others.
      const own = (told: Told) => listener(told)
      listeners.add(own)
      return () => void listeners.delete(own)
    },
    tell: (told: Told) => {
      for (const listener of listeners) tell(listener, told)
    },
  }
}
