// pure: many short lists of numbers, each number in one of them at most

const END = -1
/** Lists for each member there may be: so that few share one. */
const SPARE = 4

/**
 * Doubly linked, in columns. Which list a number goes to is any number of 32 bits; lists whose numbers agree in the
 * lower bits are one, so a list may hold others too.
 */
export interface Lists {
  append(member: number, list: number): void
  remove(member: number): void
  /** Writes the members of a list, those appended first first, from `at` on, and says where it stopped: at `into.length` at the latest. */
  read(list: number, into: Int32Array, at: number): number
  /** All members of all lists, each list in its order. */
  all(): number[]
  readonly bytes: number
}

/** @param capacity members are below it; a power of two. */
export function createLists(capacity: number): Lists {
  const mask = SPARE * capacity - 1
  const first = new Int32Array(SPARE * capacity).fill(END)
  const next = new Int32Array(capacity)
  /** Of the first one, the last. */
  const before = new Int32Array(capacity)
  const listOf = new Int32Array(capacity)

  return {
    bytes: 4 * (SPARE + 3) * capacity,
    append: (member, list) => {
      const to = list & mask
      const head = first[to] as number
      if (head === END) {
        first[to] = member
        before[member] = member
      } else {
        const last = before[head] as number
        next[last] = member
        before[member] = last
        before[head] = member
      }
      next[member] = END
      listOf[member] = to
    },
    remove: (member) => {
      const from = listOf[member] as number
      const head = first[from] as number
      const [left, right] = [before[member] as number, next[member] as number]
      if (member === head) first[from] = right
      else next[left] = right
      if (right !== END) before[right] = left
      else if (member !== head) before[head] = left
    },
    read: (list, into, at) => {
      let to = at
      let member = first[list & mask] as number
      while (member !== END && to < into.length) {
        into[to++] = member
        member = next[member] as number
      }
      return to
    },
    all: () => {
      const members: number[] = []
      for (const head of first) for (let member = head; member !== END; member = next[member] as number) members.push(member)
      return members
    },
  }
}
