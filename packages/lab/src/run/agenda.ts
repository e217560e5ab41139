// pure: what comes next

/** Whole numbers, each with its time. */
export interface Agenda {
  add(at: number, item: number): void
  /** Time of what comes first; Infinity if there is nothing. */
  nextAt(): number
  /** Removes and returns what comes first; of the same time, what was added first. There must be something. */
  take(): number
}

/** A binary heap in columns: a crowd adds three items for each ticket. */
export function createAgenda(): Agenda {
  const times: number[] = []
  const turns: number[] = []
  const items: number[] = []
  let added = 0

  const isBefore = (one: number, other: number) => {
    const a = times[one] as number
    const b = times[other] as number
    return a < b || (a === b && (turns[one] as number) < (turns[other] as number))
  }
  const swap = (one: number, other: number) => {
    for (const column of [times, turns, items]) {
      const kept = column[one] as number
      column[one] = column[other] as number
      column[other] = kept
    }
  }
  const rise = (place: number) => {
    for (let at = place; at > 0; ) {
      const parent = (at - 1) >> 1
      if (!isBefore(at, parent)) return
      swap(at, parent)
      at = parent
    }
  }
  const sink = () => {
    for (let at = 0; ; ) {
      const left = 2 * at + 1
      if (left >= times.length) return
      const least = left + 1 < times.length && isBefore(left + 1, left) ? left + 1 : left
      if (!isBefore(least, at)) return
      swap(at, least)
      at = least
    }
  }

  return {
    add: (at, item) => {
      times.push(at)
      turns.push(added)
      items.push(item)
      added += 1
      rise(times.length - 1)
    },
    nextAt: () => times[0] ?? Infinity,
    take: () => {
      const last = times.length - 1
      swap(0, last)
      times.pop()
      turns.pop()
      const item = items.pop() as number
      sink()
      return item
    },
  }
}
