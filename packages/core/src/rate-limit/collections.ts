// pure: a binary heap; a doubly linked list; a queue of numbers
/** Keeps the smallest item at the front. Adding and removing take logarithmic time. */
interface Heap<T> {
  first(): T | undefined
  add(item: T): void
  /** Removes and returns the first item. */
  shift(): T | undefined
}

export function createHeap<T>(before: (a: T, b: T) => boolean): Heap<T> {
  // The children of item i are items 2i + 1 and 2i + 2, and neither comes before item i.
  const items: T[] = []
  const at = (index: number) => items[index] as T

  const rise = (item: T, from: number) => {
    let index = from
    while (index > 0) {
      const parent = (index - 1) >> 1
      if (!before(item, at(parent))) break
      items[index] = at(parent)
      index = parent
    }
    items[index] = item
  }

  const sink = (item: T) => {
    let index = 0
    for (;;) {
      let child = 2 * index + 1
      if (child + 1 < items.length && before(at(child + 1), at(child))) child += 1
      if (child >= items.length || !before(at(child), item)) break
      items[index] = at(child)
      index = child
    }
    items[index] = item
  }

  return {
    first: () => items[0],
    add: (item) => {
      items.push(item)
      rise(item, items.length - 1)
    },
    shift: () => {
      const first = items[0]
      const last = items.pop()
      if (last !== undefined && items.length > 0) sink(last)
      return first
    },
  }
}

/** An item's place in a list. It belongs to one list, and is removed once. */
export interface Entry<T> {
  readonly item: T
}

/**
 * Items in the order in which they were added. Adding at the end and removing anywhere take constant time. It has
 * methods, not getters, because V8 keeps an object literal with a getter as a dictionary, which makes every access to
 * its members slow.
 */
export interface List<T> extends Iterable<T> {
  size(): number
  first(): Entry<T> | undefined
  push(item: T): Entry<T>
  remove(entry: Entry<T>): void
}

/** A class, because V8 may allocate object literals among long-lived objects, which keeps alive all they refer to. */
class Link<T> implements Entry<T> {
  readonly item: T
  before: Link<T> | undefined
  after: Link<T> | undefined

  constructor(item: T, before: Link<T> | undefined) {
    this.item = item
    this.before = before
  }
}

export function createList<T>(): List<T> {
  let first: Link<T> | undefined
  let last: Link<T> | undefined
  let size = 0
  return {
    size: () => size,
    first: () => first,
    push: (item) => {
      const link = new Link(item, last)
      if (last === undefined) first = link
      else last.after = link
      last = link
      size += 1
      return link
    },
    remove: (entry) => {
      const { before, after } = entry as Link<T>
      if (before === undefined) first = after
      else before.after = after
      if (after === undefined) last = before
      else after.before = before
      size -= 1
    },
    *[Symbol.iterator]() {
      for (let link = first; link !== undefined; link = link.after) yield link.item
    },
  }
}

/**
 * A first-in, first-out queue of numbers in one typed array, so that long queues cost the garbage collector nothing.
 */
export interface NumberQueue {
  size(): number
  first(): number | undefined
  push(number: number): void
  shift(): void
}

export function createNumberQueue(): NumberQueue {
  // A ring buffer whose size is a power of two.
  let ring = new Float64Array(16)
  let head = 0
  let size = 0
  const grow = () => {
    const larger = new Float64Array(ring.length * 2)
    larger.set(ring.subarray(head))
    larger.set(ring.subarray(0, head), ring.length - head)
    ring = larger
    head = 0
  }
  return {
    size: () => size,
    first: () => (size === 0 ? undefined : ring[head]),
    push: (number) => {
      if (size === ring.length) grow()
      ring[(head + size) & (ring.length - 1)] = number
      size += 1
    },
    shift: () => {
      if (size === 0) return
      head = (head + 1) & (ring.length - 1)
      size -= 1
    },
  }
}
