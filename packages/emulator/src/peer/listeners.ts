/** A set of listeners. */
export interface Listeners<Value> {
  /** Adds a listener. Returns a function that removes it. */
  add(listener: (value: Value) => void): () => void
  tell(value: Value): void
}

export function createListeners<Value>(): Listeners<Value> {
  const listeners = new Set<(value: Value) => void>()
  return {
    add: (listener) => {
      // Each call adds a function of its own, so that a listener added twice is called twice and removed separately.
      const entry = (value: Value) => listener(value)
      listeners.add(entry)
      return () => {
        listeners.delete(entry)
      }
    },
    tell: (value) => {
      for (const listener of listeners) listener(value)
    },
  }
}
