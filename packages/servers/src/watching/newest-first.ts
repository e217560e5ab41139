// pure: things in the order in which they came

/** A set that is read from its newest entry on, in time that does not grow with the entries that are not read. */
export interface NewestFirst<T extends object> {
  add(one: T): void
  delete(one: T): void
  size(): number
  newestFirst(): Iterable<T>
}

/** Fewest gaps for which the entries are moved together. */
const MOST_GAPS = 64

export function createNewestFirst<T extends object>(): NewestFirst<T> {
  /** The oldest first, with gaps. */
  let entries: (T | undefined)[] = []
  const places = new Map<T, number>()

  const closeGaps = () => {
    entries = entries.filter((one) => one !== undefined)
    for (const [place, one] of entries.entries()) places.set(one as T, place)
  }

  return {
    add: (one) => {
      if (places.has(one)) return
      places.set(one, entries.length)
      entries.push(one)
    },
    delete: (one) => {
      const place = places.get(one)
      if (place === undefined) return
      places.delete(one)
      entries[place] = undefined
      const gaps = entries.length - places.size
      if (gaps > MOST_GAPS && gaps > places.size) closeGaps()
    },
    size: () => places.size,
    *newestFirst() {
      for (let place = entries.length - 1; place >= 0; place -= 1) {
        const one = entries[place]
        if (one !== undefined) yield one
      }
    },
  }
}
