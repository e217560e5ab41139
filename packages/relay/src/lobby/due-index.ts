// pure: ids by the time at which they are due

/** Finds ids that are due without a look at the others: a binary heap that knows the place of each id. */
export interface DueIndex {
  /** Adds an id, or gives it another time. */
  set(id: string, dueAt: number): void
  delete(id: string): void
  /** At most `limit` ids that are due at `now`, the earliest first. Takes time by their number alone. */
  due(now: number, limit: number): readonly string[]
}

interface Entry {
  readonly id: string
  dueAt: number
}

const parentOf = (place: number) => (place - 1) >>> 1
const leftOf = (place: number) => 2 * place + 1

export function createDueIndex(): DueIndex {
  /** Each entry is due no earlier than its parent. */
  const heap: Entry[] = []
  const places = new Map<string, number>()
  const dueAtOf = (place: number) => heap[place]?.dueAt ?? Infinity

  const put = (entry: Entry, place: number) => {
    heap[place] = entry
    places.set(entry.id, place)
  }
  /** Moves an entry up or down from its place, to where it belongs. */
  const settle = (entry: Entry, from: number) => {
    let place = from
    while (place > 0 && dueAtOf(parentOf(place)) > entry.dueAt) {
      put(heap[parentOf(place)] as Entry, place)
      place = parentOf(place)
    }
    for (;;) {
      const left = leftOf(place)
      const earlier = dueAtOf(left + 1) < dueAtOf(left) ? left + 1 : left
      if (dueAtOf(earlier) >= entry.dueAt) break
      put(heap[earlier] as Entry, place)
      place = earlier
    }
    put(entry, place)
  }

  return {
    set: (id, dueAt) => {
      const place = places.get(id)
      if (place === undefined) return settle({ id, dueAt }, heap.length)
      const entry = heap[place] as Entry
      entry.dueAt = dueAt
      settle(entry, place)
    },
    delete: (id) => {
      const place = places.get(id)
      if (place === undefined) return
      places.delete(id)
      const moved = heap.pop() as Entry
      if (moved.id !== id) settle(moved, place)
    },
    due: (now, limit) => {
      const found: Entry[] = []
      const look = heap.length === 0 ? [] : [0]
      for (let place = look.pop(); place !== undefined; place = look.pop()) {
        if (dueAtOf(place) > now) continue
        found.push(heap[place] as Entry)
        const left = leftOf(place)
        if (left < heap.length) look.push(left)
        if (left + 1 < heap.length) look.push(left + 1)
      }
      return found
        .toSorted((a, b) => a.dueAt - b.dueAt)
        .slice(0, limit)
        .map(({ id }) => id)
    },
  }
}
