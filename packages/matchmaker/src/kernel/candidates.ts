// pure: tickets for a match around one ticket or opening, the best fit first
import type { Columns } from './columns.js'
import type { Cost } from './cost.js'
import type { Draft } from './draft.js'
import type { Slot } from './model.js'
import type { Neighbours } from './neighbours.js'
import { isOlder } from './order.js'
import type { Packed, Packing } from './packing.js'

/** Found so far, in no order until `sort`. */
export interface Candidates {
  readonly slots: readonly Slot[]
  /** All their players. */
  readonly players: number
  /** Whether somebody was passed over only because enough others were there. */
  readonly more: boolean
  /** Slots read since the beginning of all. */
  readonly read: number
  /** Begins anew around the only member of the draft, who leaves this room. */
  begin(packing: Packing, packed: Packed): void
  /** Takes up those that are near at a scale and may meet, or nobody where these are fewer than `least`. */
  gather(neighbours: Neighbours, scale: number, least: number): void
  /** The best fit first: nearest and most alike; among equals the oldest. */
  sort(): void
}

/** Slots read at most from the lists around one ticket at one scale. */
const MOST_READ = 4096
/** Tickets in the index from which on it is a crowd: who finds nobody there finds nobody for other reasons than want of tickets. */
const CROWD = 10_000
/** So many for each player of a match, in a crowd: at first, and where a search has been in vain. */
const FIRST_READ = 128
const NEXT_READ = 64

/** Beyond so many, inserting each into its place would take longer than sorting. */
const MANY = 48

function insertionSort(slots: Slot[], compare: (one: Slot, other: Slot) => number): void {
  for (let from = 1; from < slots.length; from++) {
    const slot = slots[from] as Slot
    let to = from
    for (; to > 0 && compare(slot, slots[to - 1] as Slot) < 0; to--) slots[to] = slots[to - 1] as Slot
    slots[to] = slot
  }
}

/**
 * Candidates of one size that are taken up at most, so that a crowd costs no more than it must. By size, because many
 * parties that fit nobody would hide the few tickets that fit.
 */
const mostOf = (size: number, players: number): number => Math.max(16, 4 * Math.floor(players / size))

export interface CandidatesInput {
  readonly columns: Columns
  readonly cost: Cost
  readonly draft: Draft
}

export function createCandidates({ columns, cost, draft }: CandidatesInput): Candidates {
  const raw = new Int32Array(MOST_READ)
  let read = 0
  /** In which search a slot was last met, so that none is taken up twice. */
  let metIn = new Float64Array(0)
  let search = 0
  let slots: Slot[] = []
  let costs = new Float64Array(256)
  let ofSize = new Int32Array(0)
  let packing: Packing
  let packed = 0
  let players = 0
  let more = false

  /** In a crowd each search for the same one looks at others than the one before. */
  const viewOf = (tries: number, crowded: boolean): Int32Array =>
    crowded ? raw.subarray(0, Math.min(MOST_READ, packing.players * (tries === 0 ? FIRST_READ : NEXT_READ))) : raw

  const byCost = (one: Slot, other: Slot) =>
    (costs[one] as number) - (costs[other] as number) || (isOlder(columns, one, other) ? -1 : 1)

  return {
    get slots() {
      return slots
    },
    get players() {
      return players
    },
    get more() {
      return more
    },
    get read() {
      return read
    },
    begin: (into, already) => {
      ;[packing, packed, players, more, slots] = [into, already, 0, false, []]
      search += 1
      if (metIn.length < columns.born.length) {
        metIn = new Float64Array(columns.born.length)
        costs = new Float64Array(columns.born.length)
      }
      // For an opening, one that must be in it may be a member already.
      for (let at = 0; at < draft.count; at++) metIn[draft.members[at] as Slot] = search
      if (ofSize.length <= packing.players) ofSize = new Int32Array(packing.players + 1)
      else ofSize.fill(0, 0, packing.players + 1)
    },
    gather: (neighbours, scale, least) => {
      const center = draft.members[0] as Slot
      const tries = columns.tries[center] as number
      const view = viewOf(tries, neighbours.count > CROWD)
      const found = neighbours.near(center, scale, view, least, tries * view.length)
      read += found
      if (neighbours.cut) more = true
      let possible = found
      for (let at = 0; at < found && possible >= least; at++) {
        const slot = raw[at] as Slot
        if (metIn[slot] === search) continue
        metIn[slot] = search
        const size = columns.size[slot] as number
        if (packing.add(packed, size) === -1) continue
        if ((ofSize[size] as number) >= mostOf(size, packing.players)) {
          more = true
          continue
        }
        if (!draft.admits(slot)) {
          possible -= 1
          continue
        }
        ofSize[size] = (ofSize[size] as number) + 1
        players += size
        costs[slot] = cost(center, slot)
        slots.push(slot)
      }
    },
    sort: () => {
      if (slots.length > MANY) slots.sort(byCost)
      else insertionSort(slots, byCost)
    },
  }
}
