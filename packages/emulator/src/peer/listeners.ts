/** Whom to tell. */
export interface Listeners<Value> {
  /** Returns what takes it off again. */
  add(listener: (value: Value) => void): () => void
  tell(value: Value): void
}

export function createListeners<Value>(): Listeners<Value> {
  const listeners = new Set<(value: Value) => void>()
  return {
    add: (listener) => {
      // Of its own, so that a listener added twice is told twice, and taken off once.
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
