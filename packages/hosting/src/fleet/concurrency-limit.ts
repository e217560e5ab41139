export type ConcurrencyLimit<Item> = ReturnType<typeof createConcurrencyLimit<Item>>

/**
 * Limits the number of concurrent tasks. Further tasks wait in order of arrival.
 * @param run runs a task, and never rejects
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
    /** Adds a task. It starts in a microtask, or once an earlier task has ended. */
    add: (item: Item) => {
      waiting.add(item)
      queueMicrotask(begin)
    },
    /** Removes a waiting task. Returns false if the task does not wait. */
    remove: (item: Item) => waiting.delete(item),
    /** Starts no further tasks. */
    stop: () => {
      isStopped = true
    },
    underWay: () => underWay,
    waiting: () => waiting.size,
  }
}
