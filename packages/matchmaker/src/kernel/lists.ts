// pure: many short lists of numbers, each number in one of them at most

/** In place of a member, where a list has no more. */
export const END = -1

/**
 * Doubly linked, in columns. Which list a number goes to is any number of 32 bits; lists whose numbers agree in the
 * lower bits are one, so a list may hold members of others too: `codeOf` tells.
 */
export interface Lists {
  append(member: number, list: number): void
  remove(member: number): void
  /** Where a list is in `heads`. */
  at(list: number): number
  /** Of each list the member that was appended first, `END` if there is none, and then how many there are. */
  readonly heads: Int32Array
  /** For each member the one that was appended after it. */
  readonly next: Int32Array
  /** For each member the list it was appended to. */
  readonly codeOf: Int32Array
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
  const heads = new Int32Array(2 * spare * capacity)
  for (let list = 0; list <= mask; list++) heads[2 * list] = END
  const next = new Int32Array(capacity)
  /** Of the first one, the last. */
  const before = new Int32Array(capacity)
  const codeOf = new Int32Array(capacity)

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
      codeOf[member] = list
      heads[to + 1] = (heads[to + 1] as number) + 1
    },
    remove: (member) => {
      const from = 2 * ((codeOf[member] as number) & mask)
      const head = heads[from] as number
      const left = before[member] as number
      const right = next[member] as number
      if (member === head) heads[from] = right
      else next[left] = right
      if (right !== END) before[right] = left
      else if (member !== head) before[head] = left
      heads[from + 1] = (heads[from + 1] as number) - 1
    },
    at: (list) => 2 * (list & mask),
    heads,
    next,
    codeOf,
    all: () => {
      const members: number[] = []
      for (let list = 0; list <= mask; list++)
        for (let member = heads[2 * list] as number; member !== END; member = next[member] as number)
          members.push(member)
      return members
    },
  }
}
