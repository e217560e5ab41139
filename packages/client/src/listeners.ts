/** Tells a listener of the game. An error of it is one that nobody handles, and ends nothing here. */
export function tell<Told>(listener: (told: Told) => void, told: Told): void {
  try {
    listener(told)
  } catch (error) {
    void Promise.reject(error)
  }
}

/** Those who are told of each new state. */
export function createListeners<Told>() {
  const listeners = new Set<(told: Told) => void>()
  return {
    /** Returns a function that ends it. */
    subscribe: (listener: (told: Told) => void) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    tell: (told: Told) => {
      for (const listener of listeners) tell(listener, told)
    },
  }
}
