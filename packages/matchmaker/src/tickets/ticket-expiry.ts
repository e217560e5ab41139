// pure: when tickets expire, and a timer heap for this and other times
/** Something with a due time. Only `createTimerHeap` and `createDeadlines` change these fields. */
export interface Timed {
  /** Epoch milliseconds; 0 before it is set first. */
  dueAt: number
  /** Index in the heap; below 0 while it is not in there, −1 at first. */
  heapIndex: number
}

/** Items by due time. Asking costs nothing while no item is due. */
interface TimerHeap<Item extends Timed> {
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

/** Deadlines of items. Nearly every ticket is matched soon, long before its deadline. */
interface Deadlines<Item extends Timed> {
  /** Infinity: never. */
  set(item: Item, dueAt: number): void
  remove(item: Item): void
  /** Calls `due` with each item that is due, the one that is due first before the others. Its deadline is gone then. */
  advance(now: number, due: (item: Item) => void): void
}

/** In place of the index in the heap, while an item is new. */
const NEW = -2
/** Most new items without a deadline before the list is cleared of them. */
const FEW = 1024

/** At an `advance` this share of the listed items enters the heap, but no fewer and no more than these. */
const SHARE = 1 / 4
const FEWEST_ENTERING = 2048
const MOST_ENTERING = 4096

/**
 * The first deadline of an item is only listed. It enters the heap at the second `advance` after that or, where many
 * are listed, at a later one: by then most items have been removed, which costs nothing. It enters sooner if it is due.
 */
export function createDeadlines<Item extends Timed>(): Deadlines<Item> {
  const heap = createTimerHeap<Item>()
  /** Listed since the last `advance`, and before it. Those that lost their deadline stay in the list. */
  let fresh: Item[] = []
  let older: Item[] = []
  /** No deadline of those in each list is earlier. */
  let freshDue = Infinity
  let olderDue = Infinity
  let removed = 0

  const isNew = ({ heapIndex }: Item) => heapIndex === NEW
  const enter = (items: readonly Item[]) => {
    for (const item of items) {
      if (!isNew(item)) continue
      item.heapIndex = -1
      heap.set(item, item.dueAt)
    }
  }

  return {
    set: (item, dueAt) => {
      if (isNew(item)) {
        item.dueAt = dueAt
        // It may be in either list.
        olderDue = Math.min(olderDue, dueAt)
      } else if (item.dueAt !== 0 || item.heapIndex >= 0 || dueAt === Infinity) return heap.set(item, dueAt)
      else {
        item.dueAt = dueAt
        item.heapIndex = NEW
        fresh.push(item)
      }
      freshDue = Math.min(freshDue, dueAt)
    },

    remove: (item) => {
      if (!isNew(item)) return heap.remove(item)
      item.heapIndex = -1
      removed += 1
      if (removed < FEW || removed < fresh.length + older.length - removed) return
      // Without an `advance`, while another process leads.
      removed = 0
      fresh = fresh.filter(isNew)
      older = older.filter(isNew)
    },

    advance: (now, due) => {
      const some = Math.max(FEWEST_ENTERING, Math.min(MOST_ENTERING, older.length * SHARE))
      enter(older.splice(0, olderDue <= now ? older.length : some))
      if (freshDue <= now) {
        enter(fresh)
        fresh = []
        freshDue = Infinity
      }
      olderDue = older.length === 0 ? freshDue : Math.min(olderDue, freshDue)
      older = older.length === 0 ? fresh : older.concat(fresh)
      fresh = []
      freshDue = Infinity
      removed = 0
      for (let item = heap.takeDue(now); item !== undefined; item = heap.takeDue(now)) due(item)
    },
  }
}

/** How long a queue keeps a ticket. */
interface Expiring {
  readonly queue: { readonly expireAfterMs: number }
}

/** When the first of the ticket's queues drops it, in epoch milliseconds. */
export function firstExpiryOf(ticket: { readonly createdAt: number; readonly runtimes: readonly Expiring[] }): number {
  let first = Infinity
  for (const { queue } of ticket.runtimes) first = Math.min(first, ticket.createdAt + queue.expireAfterMs)
  return first
}

/** Whether the ticket has waited too long for this queue. @param now epoch milliseconds */
export const isExpiredIn = ({ queue }: Expiring, createdAt: number, now: number): boolean =>
  now - createdAt >= queue.expireAfterMs
