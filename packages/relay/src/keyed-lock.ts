/** Runs tasks with the same key one after the other, and tasks with different keys in parallel. */
export function createKeyedLock() {
  const last = new Map<string, Promise<unknown>>()
  return {
    run: <T>(key: string, task: () => Promise<T>): Promise<T> => {
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
