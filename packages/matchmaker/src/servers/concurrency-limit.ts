/** Bounds how many tasks are under way at once; the others wait in the order in which they came. */
export interface ConcurrencyLimit<Item extends NonNullable<unknown>> {
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

/** So many places of tasks that have begun may be kept. */
const FEW = 1024

/** @param take runs a task; never rejects. */
export function createConcurrencyLimit<Item extends NonNullable<unknown>>(
  most: number,
  take: (item: Item) => Promise<void>,
): ConcurrencyLimit<Item> {
  /** In the order in which they came, and undefined in place of those that were removed. */
  let waiting: (Item | undefined)[] = []
  /** The index of the next one. */
  let first = 0
  let underWay = 0
  let isDue = false
  let isStopped = false

  const next = () => {
    isDue = false
    for (; first < waiting.length; first += 1) {
      const item = waiting[first]
      if (item === undefined) continue
      if (underWay >= most || isStopped) return forget()
      waiting[first] = undefined
      underWay += 1
      void take(item).finally(over)
    }
    forget()
  }
  /** Of those before the first, nothing is kept for long. */
  const forget = () => {
    if (first < waiting.length && first < Math.max(FEW, waiting.length / 2)) return
    waiting = waiting.slice(first)
    first = 0
  }
  const over = () => {
    underWay -= 1
    next()
  }

  return {
    add: (item) => {
      waiting.push(item)
      if (isDue || underWay >= most) return
      isDue = true
      queueMicrotask(next)
    },
    remove: (item) => {
      const index = waiting.indexOf(item, first)
      if (index < 0) return false
      waiting[index] = undefined
      while (first < waiting.length && waiting[first] === undefined) first += 1
      forget()
      return true
    },
    stop: () => {
      isStopped = true
    },
    underWay: () => underWay,
  }
}
