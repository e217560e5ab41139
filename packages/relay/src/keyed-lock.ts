/** Runs tasks with the same key one after the other, and tasks with different keys in parallel. */
export interface KeyedLock {
  run<T>(key: string, task: () => Promise<T>): Promise<T>
}

export function createKeyedLock(): KeyedLock {
  const last = new Map<string, Promise<unknown>>()
  return {
    run: (key, task) => {
      const turn = (last.get(key) ?? Promise.resolve()).then(task, task)
      last.set(key, turn)
      const clear = () => {
        if (last.get(key) === turn) last.delete(key)
      }
      turn.then(clear, clear)
      return turn
    },
  }
}
