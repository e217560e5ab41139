/** Lets so many at most be under way at once; the others wait for their turn, in the order in which they came. */
export interface ConcurrencyLimit<Item> {
  /** Its turn comes soon, or when others are over; never before the caller is done. */
  add(item: Item): void
  /** Its turn shall not come. False if it does not wait for one. */
  remove(item: Item): boolean
}

/** @param take never rejects. */
export function createConcurrencyLimit<Item>(most: number, take: (item: Item) => Promise<void>): ConcurrencyLimit<Item> {
  const waiting = new Set<Item>()
  let underWay = 0
  let isDue = false

  const next = () => {
    isDue = false
    for (const item of waiting) {
      if (underWay >= most) return
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
  }
}
