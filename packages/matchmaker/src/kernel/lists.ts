// pure: many short lists of numbers; each number is in one list at most

/** Marks the end of a list. */
export const END = -1

/**
 * Doubly linked lists in columns. A list is named by a code, any 32-bit number. Codes that agree in the lower bits
 * share one list, so a list may hold members of other codes too: `codeOf` tells them apart.
 */
export interface Lists {
  append(member: number, list: number): void
  remove(member: number): void
  /** The position of a list in `heads`. */
  at(list: number): number
  /** Two numbers per list: its first member (`END` if it is empty) and its length. */
  readonly heads: Int32Array
  /** For each member the member appended after it; `END` for the last. */
  readonly next: Int32Array
  /** For each member the code of the list it was appended to. */
  readonly codeOf: Int32Array
  /** All members of all lists, each list in the order of appending. */
  all(): number[]
  readonly bytes: number
}

/**
 * Creates empty lists.
 * @param capacity members are below this number; a power of two.
 * @param spare lists per possible member; a power of two.
 */
export function createLists(capacity: number, spare: number): Lists {
  const mask = spare * capacity - 1
  const heads = new Int32Array(2 * spare * capacity)
  for (let list = 0; list <= mask; list++) heads[2 * list] = END
  const next = new Int32Array(capacity)
  /** For each member the one before it; for the first member of a list, the last one. */
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
