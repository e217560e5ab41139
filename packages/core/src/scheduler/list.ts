// pure: a doubly linked list

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
