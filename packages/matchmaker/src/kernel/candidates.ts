// pure: tickets for a match around one ticket or opening, the best fit first
import type { Columns } from './columns.js'
import type { Cost } from './cost.js'
import type { Draft } from './draft.js'
import type { Candidate } from './candidate-cache.js'
import type { Slot } from './model.js'
import type { Mutable } from './mutable.js'
import type { Neighbours } from './neighbours.js'
import { isOlder } from './order.js'
import type { Packed, Packing } from './packing.js'

/** Found so far, in no order until `sort`. */
export interface Candidates {
  /** The first `count` of them: guests of the draft. */
  readonly guests: Int32Array
  readonly count: number
  /** All their players. */
  readonly players: number
  /** Whether somebody was passed over only because enough others were there. */
  readonly more: boolean
  /** Those told by the index since the beginning of all. */
  readonly read: number
  /** Begins anew around the first member of the draft, who leaves this room. */
  begin(packing: Packing, packed: Packed): void
  /** Takes up those that are near at a scale and may meet, or nobody where these are fewer than `least`. */
  gather(scale: number, least: number): void
  /** The best fit first: nearest and most alike; among equals the oldest. */
  sort(): void
}

/** Slots looked at most around one ticket at one scale. */
const MOST_READ = 4096
/** Tickets in the index from which on it is a crowd: who finds nobody there finds nobody for other reasons than want of tickets. */
const CROWD = 10_000
/** So many for each player of a match, in a crowd: at first, and where a search has been in vain. */
const FIRST_READ = 128
const NEXT_READ = 64
/** Those told at once: then it is asked whether they are enough. */
const AT_ONCE = 32

/**
 * Candidates of one size that are taken up at most, so that a crowd costs no more than it must. By size, because many
 * parties that fit nobody would hide the few tickets that fit.
 */
const mostOf = (size: number, players: number): number => Math.max(16, 4 * Math.floor(players / size))

export interface CandidatesInput {
  readonly columns: Columns
  readonly cost: Cost
  readonly draft: Draft
  readonly neighbours: Neighbours
}

export function createCandidates({ columns, cost, draft, neighbours }: CandidatesInput): Candidates {
  const { look } = neighbours
  const chunk = new Int32Array(AT_ONCE)
  let costs = new Float64Array(0)
  let ofSize = new Int32Array(0)
  let packing: Packing
  let packed = 0
  /** Sizes of which there can be no more. */
  let sizesFull = 0

  const take = (slot: Slot): void => {
    const size = columns.size[slot] as number
    if (packing.add(packed, size) === -1) return
    const most = mostOf(size, packing.players)
    if ((ofSize[size] as number) >= most) {
      candidates.more = true
      return
    }
    const guest = draft.invite(slot)
    if (guest === undefined) return
    ofSize[size] = (ofSize[size] as number) + 1
    if (ofSize[size] === most) sizesFull += 1
    candidates.players += size
    candidates.guests[candidates.count] = guest
    costs[candidates.count] = cost(draft.members[0] as Slot, slot)
    candidates.count += 1
  }

  const candidates: Mutable<Candidates> = {
    guests: new Int32Array(0),
    count: 0,
    players: 0,
    more: false,
    read: 0,
    begin: (into, already) => {
      packing = into
      packed = already
      candidates.players = 0
      candidates.count = 0
      candidates.more = false
      sizesFull = 0
      look.lookAround(draft.members[0] as Slot)
      if (ofSize.length <= packing.players) {
        ofSize = new Int32Array(packing.players + 1)
        const most = ofSize.reduce((sum, _, size) => (size === 0 ? 0 : sum + mostOf(size, packing.players)), 0)
        candidates.guests = new Int32Array(most)
        costs = new Float64Array(most)
      } else ofSize.fill(0, 0, packing.players + 1)
    },
    gather: (scale, least) => {
      if (sizesFull === columns.largest) {
        candidates.more = true
        return
      }
      const center = draft.members[0] as Slot
      // For an opening, one that must be in it may be a member already.
      const wanted = draft.count > 1 ? (draft.members[1] as Slot) : center
      const tries = columns.tries[center] as number
      // In a crowd each search for the same one looks at others than the one before.
      const most = neighbours.count > CROWD ? Math.min(MOST_READ, packing.players * (tries === 0 ? FIRST_READ : NEXT_READ)) : MOST_READ
      const there = look.turnTo(scale, most, tries * most)
      if (look.cut) candidates.more = true
      if (there < least) return
      let told = chunk.length
      while (told === chunk.length && sizesFull < columns.largest) {
        told = look.next(chunk)
        candidates.read += told
        for (let at = 0; at < told; at++) if (chunk[at] !== wanted) take(chunk[at] as Slot)
      }
      if (told === chunk.length) candidates.more = true
    },
    sort: () => {
      const { guests, count } = candidates
      const { slots } = draft.guests
      for (let from = 1; from < count; from++) {
        const guest = guests[from] as Candidate
        const price = costs[from] as number
        let to = from
        for (; to > 0; to--) {
          const before = costs[to - 1] as number
          if (before < price || (before === price && isOlder(columns, slots[guests[to - 1] as Candidate] as Slot, slots[guest] as Slot))) break
          guests[to] = guests[to - 1] as Candidate
          costs[to] = before
        }
        guests[to] = guest
        costs[to] = price
      }
    },
  }
  return candidates
}
