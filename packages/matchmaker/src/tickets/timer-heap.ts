// pure: what is due when

/** Something with a due time. Only `createTimerHeap` and `createDeadlines` change these fields. */
export interface Timed {
  /** Epoch milliseconds; 0 before it is set first. */
  dueAt: number
  /** Index in the heap; below 0 while it is not in there, −1 at first. */
  heapIndex: number
}

/** Items by due time. Asking costs nothing while no item is due. */
export interface TimerHeap<Item extends Timed> {
  /** Infinity: never. */
  set(item: Item, dueAt: number): void
  remove(item: Item): void
  /** Takes the first one out that is due. */
  takeDue(now: number): Item | undefined
}

/**
 * A binary heap whose items know their index, so that an item can be removed at once. A ticket lives for a second,
 * while its expiry is minutes away.
 */
export function createTimerHeap<Item extends Timed>(): TimerHeap<Item> {
  const heap: Item[] = []

  const put = (item: Item, index: number) => {
    heap[index] = item
    item.heapIndex = index
  }
  const at = (index: number): Item => heap[index] as Item

  const rise = (item: Item, from: number) => {
    let index = from
    while (index > 0) {
      const parent = (index - 1) >> 1
      if (at(parent).dueAt <= item.dueAt) break
      put(at(parent), index)
      index = parent
    }
    put(item, index)
  }
  const sink = (item: Item, from: number) => {
    let index = from
    for (;;) {
      let child = 2 * index + 1
      if (child >= heap.length) break
      if (child + 1 < heap.length && at(child + 1).dueAt < at(child).dueAt) child += 1
      if (at(child).dueAt >= item.dueAt) break
      put(at(child), index)
      index = child
    }
    put(item, index)
  }

  /** Moves a new item at this index up or down. */
  const settle = (item: Item, index: number) => {
    if (index > 0 && at((index - 1) >> 1).dueAt > item.dueAt) rise(item, index)
    else sink(item, index)
  }

  const remove = (item: Item) => {
    const index = item.heapIndex
    if (index < 0) return
    item.heapIndex = -1
    const last = heap.pop() as Item
    if (last !== item) settle(last, index)
  }

  return {
    set: (item, dueAt) => {
      if (dueAt === Infinity) remove(item)
      item.dueAt = dueAt
      if (dueAt === Infinity) return
      if (item.heapIndex >= 0) return settle(item, item.heapIndex)
      heap.push(item)
      rise(item, heap.length - 1)
    },
    remove,
    takeDue: (now) => {
      const first = heap[0]
      if (first === undefined || first.dueAt > now) return undefined
      remove(first)
      return first
    },
  }
}
