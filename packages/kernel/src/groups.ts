// pure: the matches of a round that have not been taken yet
import type { Columns } from './columns.js'
import { matchesOf, type TeamsOf, type Run } from './matches.js'
import type { Grouped, Matches, Slot } from './model.js'
import { isOlder } from './order.js'

export interface Groups {
  /** Adds one match. @param teams the team of each member. */
  add(opening: Slot | undefined, members: readonly Slot[], teams: readonly number[]): void
  /**
   * Adds `count` members from `at` on as matches of `tickets` tickets each; their order and teams are computed when
   * they are read.
   */
  addRun(members: Int32Array, at: number, count: number, tickets: number): void
  /** The matches added one by one. */
  single(): readonly Grouped[]
  /** Keeps back a match, one at a time, until it is restored or replaced. False if it has been taken already. */
  withdraw(match: Grouped): boolean
  restore(): void
  /** Replaces the withdrawn match by others. */
  replace(others: readonly { readonly slots: readonly Slot[]; readonly teams: readonly number[] }[]): void
  /**
   * Returns all matches but a withdrawn one, and forgets them. Matches from `addRun` must be read before their tickets
   * leave the pool.
   */
  take(): Matches
}

/** A match added by `add`, or a run of matches added by `addRun`. */
type Batch = Grouped | (Run & { end: number })

/** The least number of tickets in a block of memory. */
const BLOCK = 4096

export function createGroups(columns: Columns, teamsOf: TeamsOf): Groups {
  let slots = new Int32Array(0)
  let end = 0
  let batches: Batch[] = []
  let withdrawn: Grouped | undefined

  const groupedOf = (opening: Slot | undefined, members: readonly Slot[], teams: readonly number[]): Grouped => {
    const inOrder = [...members]
    const ofEach = [...teams]
    for (let from = 1; from < members.length; from++) {
      const slot = inOrder[from] as Slot
      const team = ofEach[from] as number
      let to = from
      for (; to > 0 && isOlder(columns, slot, inOrder[to - 1] as Slot); to--) {
        inOrder[to] = inOrder[to - 1] as Slot
        ofEach[to] = ofEach[to - 1] as number
      }
      inOrder[to] = slot
      ofEach[to] = team
    }
    return { opening, slots: inOrder, teams: ofEach }
  }

  const isNotWithdrawn = (batch: Batch) => batch !== withdrawn

  return {
    add: (opening, members, teams) => {
      batches.push(groupedOf(opening, members, teams))
    },
    single: () => batches.filter((batch): batch is Grouped => !('start' in batch)),
    withdraw: (match) => {
      if (!batches.includes(match)) return false
      withdrawn = match
      return true
    },
    restore: () => {
      withdrawn = undefined
    },
    replace: (others) => {
      const matches = others.map(({ slots: members, teams }) => groupedOf(undefined, members, teams))
      batches.splice(batches.indexOf(withdrawn as Grouped), 1, ...matches)
      withdrawn = undefined
    },
    addRun: (members, at, count, tickets) => {
      if (end + count > slots.length) [slots, end] = [new Int32Array(Math.max(BLOCK, count)), 0]
      for (let from = at; from < at + count; from++) slots[end++] = members[from] as Slot
      const last = batches.at(-1)
      if (last !== undefined && 'start' in last && last.slots === slots && last.tickets === tickets) last.end = end
      else batches.push({ slots, start: end - count, tickets, end })
    },
    take: () => {
      const matches = matchesOf(columns, withdrawn === undefined ? batches : batches.filter(isNotWithdrawn), teamsOf)
      slots = new Int32Array(0)
      batches = withdrawn === undefined ? [] : [withdrawn]
      end = 0
      return matches
    },
  }
}
