// pure: many short lists of numbers, each number in one of them at most

const END = -1

/**
 * Doubly linked, in columns. Which list a number goes to is any number of 32 bits; lists whose numbers agree in the
 * lower bits are one, so a list may hold others too.
 */
export interface Lists {
  append(member: number, list: number): void
  remove(member: number): void
  /** Members of a list. */
  count(list: number): number
  /**
   * Writes the members of a list, those appended first first, but for the first `skip`, from `at` on, and says where it
   * stopped: at `into.length` at the latest.
   */
  read(list: number, into: Int32Array, at: number, skip: number): number
  /** All members of all lists, each list in its order. */
  all(): number[]
  readonly bytes: number
}

/**
 * @param capacity members are below it; a power of two.
 * @param spare lists for each member there may be; a power of two.
 */
export function createLists(capacity: number, spare: number): Lists {
  const mask = spare * capacity - 1
  /** Of each list the first member, and how many there are, side by side. */
  const heads = new Int32Array(2 * spare * capacity)
  for (let list = 0; list <= mask; list++) heads[2 * list] = END
  const next = new Int32Array(capacity)
  /** Of the first one, the last. */
  const before = new Int32Array(capacity)
  const listOf = new Int32Array(capacity)

  return {
    bytes: 4 * (2 * spare + 3) * capacity,
    append: (member, list) => {
      const to = 2 * (list & mask)
      const head = heads[to] as number
      if (head === END) {
        heads[to] = member
        before[member] = member
      } else {
        const last = before[head] as number
        next[last] = member
        before[member] = last
        before[head] = member
      }
      next[member] = END
      listOf[member] = to
      heads[to + 1] = (heads[to + 1] as number) + 1
    },
    remove: (member) => {
      const from = listOf[member] as number
      const head = heads[from] as number
      const [left, right] = [before[member] as number, next[member] as number]
      if (member === head) heads[from] = right
      else next[left] = right
      if (right !== END) before[right] = left
      else if (member !== head) before[head] = left
      heads[from + 1] = (heads[from + 1] as number) - 1
    },
    count: (list) => heads[2 * (list & mask) + 1] as number,
    read: (list, into, at, skip) => {
      let to = at
      let member = heads[2 * (list & mask)] as number
      for (let left = skip; left > 0 && member !== END; left--) member = next[member] as number
      while (member !== END && to < into.length) {
        into[to++] = member
        member = next[member] as number
      }
      return to
    },
    all: () => {
      const members: number[] = []
      for (let list = 0; list <= mask; list++) for (let member = heads[2 * list] as number; member !== END; member = next[member] as number) members.push(member)
      return members
    },
  }
}
