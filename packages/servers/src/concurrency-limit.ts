/** What may wait for its turn. */
export interface Queued {
  /** Where it waits, so that it is removed without a search; −1 while it does not. Only the limit changes it. */
  turn: number
}

/** Bounds how many tasks are under way at once; the others wait in the order in which they came. */
export interface ConcurrencyLimit<Item extends Queued> {
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

/** So many places of tasks that have begun or were removed may be kept, or as many as there are others. */
const FEW = 1024

/** @param take runs a task; never rejects. */
export function createConcurrencyLimit<Item extends Queued>(
  most: number,
  take: (item: Item) => Promise<void>,
): ConcurrencyLimit<Item> {
  /** In the order in which they came, and undefined in place of those that have begun or were removed. */
  let waiting: (Item | undefined)[] = []
  /** The index of the next one, and how many there are from there on. */
  let first = 0
  let count = 0
  let underWay = 0
  let isDue = false
  let isStopped = false

  const next = () => {
    isDue = false
    for (; first < waiting.length; first += 1) {
      const item = waiting[first]
      if (item === undefined) continue
      if (underWay >= most || isStopped) break
      leave(item)
      underWay += 1
      void take(item).finally(over)
    }
    tidy()
  }
  const over = () => {
    underWay -= 1
    next()
  }
  const leave = (item: Item) => {
    waiting[item.turn] = undefined
    item.turn = -1
    count -= 1
  }
  const tidy = () => {
    if (waiting.length - count < Math.max(FEW, count)) return
    waiting = waiting.filter((item) => item !== undefined)
    for (const [turn, item] of waiting.entries()) (item as Item).turn = turn
    first = 0
  }

  return {
    add: (item) => {
      item.turn = waiting.length
      waiting.push(item)
      count += 1
      if (isDue || underWay >= most) return
      isDue = true
      queueMicrotask(next)
    },
    remove: (item) => {
      if (item.turn === -1) return false
      leave(item)
      tidy()
      return true
    },
    stop: () => {
      isStopped = true
    },
    underWay: () => underWay,
  }
}
