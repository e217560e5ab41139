// pure: the matches of a round that nobody has taken yet
import type { Columns } from './columns.js'
import type { Grouped, Slot } from './model.js'
import { isOlder } from './order.js'

export interface Groups {
  /**
   * Takes the first `count` members as a match.
   * @param teams for each of them; may be shared among matches.
   */
  add(opening: Slot | undefined, members: ArrayLike<Slot>, count: number, teams: readonly number[]): void
  /**
   * Takes `count` members from `at` on as matches, one after the other, in which it is all the same who is in which
   * team: team after team is given to the oldest first.
   */
  addAlike(members: Int32Array, at: number, count: number, teams: readonly number[]): void
  /** All of them, and forgets them. */
  take(): Grouped[]
}

/** Matches one after the other that are told the same way. */
interface Batch {
  readonly opening: Slot | undefined
  readonly teams: readonly number[]
  readonly alike: boolean
  readonly start: number
  readonly size: number
  matches: number
}

export function createGroups(columns: Columns): Groups {
  let slots = new Int32Array(0)
  let end = 0
  let batches: Batch[] = []
  let last: Batch | undefined

  const widen = (to: number) => {
    const wider = new Int32Array(Math.max(64, 2 * slots.length, to))
    wider.set(slots)
    slots = wider
  }
  const open = (batch: Batch) => {
    batches.push(batch)
    last = batch
  }

  return {
    add: (opening, members, count, teams) => {
      open({ opening, teams, alike: false, start: end, size: count, matches: 1 })
      if (end + count > slots.length) widen(end + count)
      for (let at = 0; at < count; at++) slots[end++] = members[at] as Slot
    },
    addAlike: (members, at, count, teams) => {
      const matches = count / teams.length
      if (last !== undefined && last.alike && last.teams === teams) last.matches += matches
      else open({ opening: undefined, teams, alike: true, start: end, size: teams.length, matches })
      if (end + count > slots.length) widen(end + count)
      slots.set(members.subarray(at, at + count), end)
      end += count
    },
    take: () => {
      const groups = new Array<Grouped>(batches.reduce((sum, { matches }) => sum + matches, 0))
      let to = 0
      for (const { opening, teams, alike, start, size, matches } of batches) {
        for (let match = 0; match < matches; match++) {
          const at = start + match * size
          groups[to++] = alike ? alikeOldestFirst(columns, slots, at, size, teams) : oldestFirst(columns, opening, slots, at, size, teams)
        }
      }
      slots = new Int32Array(0)
      ;[batches, last, end] = [[], undefined, 0]
      return groups
    },
  }
}

function alikeOldestFirst(columns: Columns, from: Int32Array, start: number, size: number, teams: readonly number[]): Grouped {
  if (size === 2) {
    const [one, other] = [from[start] as Slot, from[start + 1] as Slot]
    return { opening: undefined, slots: isOlder(columns, other, one) ? [other, one] : [one, other], teams }
  }
  const slots = new Array<Slot>(size)
  for (let at = 0; at < size; at++) {
    const slot = from[start + at] as Slot
    let to = at
    for (; to > 0 && isOlder(columns, slot, slots[to - 1] as Slot); to--) slots[to] = slots[to - 1] as Slot
    slots[to] = slot
  }
  return { opening: undefined, slots, teams }
}

function oldestFirst(columns: Columns, opening: Slot | undefined, from: Int32Array, start: number, size: number, teamsOf: readonly number[]): Grouped {
  const order = Array.from({ length: size }, (_, at) => at)
  order.sort((one, other) => (isOlder(columns, from[start + one] as Slot, from[start + other] as Slot) ? -1 : 1))
  return { opening, slots: order.map((at) => from[start + at] as Slot), teams: order.map((at) => teamsOf[at] as number) }
}
