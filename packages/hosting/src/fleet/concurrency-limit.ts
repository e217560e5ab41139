export type ConcurrencyLimit<Item> = ReturnType<typeof createConcurrencyLimit<Item>>

/**
 * Limits the number of concurrent tasks. The others wait in order of arrival.
 * @param run runs a task; never rejects.
 */
export function createConcurrencyLimit<Item>(most: number, run: (item: Item) => Promise<void>) {
  const waiting = new Set<Item>()
  let underWay = 0
  let isStopped = false

  const begin = () => {
    if (isStopped || underWay >= most) return
    for (const item of waiting) {
      waiting.delete(item)
      underWay += 1
      void run(item).finally(over)
      if (underWay >= most) return
    }
  }
  const over = () => {
    underWay -= 1
    begin()
  }

  return {
    /** Adds a task. It starts soon, or once others have ended, but never within the caller's turn of the event loop. */
    add: (item: Item) => {
      waiting.add(item)
      queueMicrotask(begin)
    },
    /** Removes a waiting task. Returns false if it does not wait. */
    remove: (item: Item) => waiting.delete(item),
    /** Starts no more tasks. */
    stop: () => {
      isStopped = true
    },
    /** Returns the number of tasks that have not ended. */
    underWay: () => underWay,
    /** Returns the number of tasks that wait for their turn. */
    waiting: () => waiting.size,
  }
}
