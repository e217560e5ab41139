/** Bounds how many tasks are under way at once; the others wait in the order in which they came. */
export interface ConcurrencyLimit<Item> {
  /**
   * Adds a task. It starts soon, or when others have ended; never before the caller's turn of the event loop is over.
   */
  add(item: Item): void
  /** Removes a waiting task. Returns false if it does not wait. */
  remove(item: Item): boolean
  /** Starts no more tasks. */
  stop(): void
  /** Number of tasks that have not ended. */
  underWay(): number
}

/** @param take runs a task; never rejects. */
export function createConcurrencyLimit<Item>(
  most: number,
  take: (item: Item) => Promise<void>,
): ConcurrencyLimit<Item> {
  const waiting = new Set<Item>()
  let underWay = 0
  let isDue = false
  let isStopped = false

  const next = () => {
    isDue = false
    for (const item of waiting) {
      if (underWay >= most || isStopped) return
      waiting.delete(item)
      underWay += 1
      void take(item).finally(over)
    }
  }
  const over = () => {
    underWay -= 1
    next()
  }

  return {
    add: (item) => {
      waiting.add(item)
      if (isDue || underWay >= most) return
      isDue = true
      queueMicrotask(next)
    },
    remove: (item) => waiting.delete(item),
    stop: () => {
      isStopped = true
    },
    underWay: () => underWay,
  }
}
