// pure: a binary heap
/** Creates a heap, which keeps the smallest item at the front. Adding and removing take logarithmic time. */
export function createHeap<T>(before: (a: T, b: T) => boolean) {
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
    first: (): T | undefined => items[0],
    add: (item: T) => {
      items.push(item)
      rise(item, items.length - 1)
    },
    /** Removes and returns the first item. */
    shift: () => {
      const first = items[0]
      const last = items.pop()
      if (last !== undefined && items.length > 0) sink(last)
      return first
    },
  }
}
