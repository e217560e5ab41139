// pure: lists of tickets that get shorter by themselves
import { at, type Field } from './field.js'

/** A number of lists, together holding each ticket once at most. */
export interface Chains {
  /** Puts a ticket in front of a list. */
  insert(list: number, position: number): void
  /**
   * Visits the tickets of a list from the front until `visit` gives false, and then gives false. Those
   * that were taken are not visited, and dropped for good.
   */
  visit(list: number, visit: (position: number) => boolean): boolean
}

const END = -1

export function createChains(lists: number, { count, taken }: Field): Chains {
  const first = new Int32Array(lists).fill(END)
  const next = new Int32Array(count)

  return {
    insert: (list, position) => {
      next[position] = first[list] as number
      first[list] = position
    },
    visit: (list, visit) => {
      let before = END
      for (let position = first[list] as number; position !== END; position = next[position] as number) {
        if (at(taken, position) === 1) {
          if (before === END) first[list] = next[position] as number
          else next[before] = next[position] as number
        } else {
          if (!visit(position)) return false
          before = position
        }
      }
      return true
    },
  }
}
