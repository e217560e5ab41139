// pure: a match in the making, and who may still join it
import { KEY, SINCE, VALUES, X, Y, Z, type Columns } from './columns.js'
import { createCandidateCache, type Candidate, type CandidateCache } from './candidate-cache.js'
import { levelAt, type Levels } from './levels.js'
import type { MatchLevels, Model, Slot } from './model.js'
import type { Mutable } from './mutable.js'

/**
 * Everything columns and pairs tell about a match, kept up to date member by member. What is about teams is not known
 * here. All limits only loosen with the level, so what was allowed among the first members stays so when the match
 * becomes one of last resort.
 */
export interface Draft {
  /** The first `count` of them. */
  readonly members: Int32Array
  readonly count: number
  /** All who were invited. */
  readonly guests: Readonly<CandidateCache>
  /** Begins anew with one ticket or opening. False if not even it alone keeps the rules. */
  begin(slot: Slot): boolean
  /** Adds a ticket if it may be in a match with all others. */
  add(slot: Slot): boolean
  /** Whether `add` would. */
  admits(slot: Slot): boolean
  /** Remembers a ticket for `join` if `add` would add it now; undefined if not. Until the next `begin`. */
  invite(slot: Slot): Candidate | undefined
  /** As `add`. */
  join(guest: Candidate): boolean
  /** Takes the last one back. */
  drop(): void
  levels(): MatchLevels
  /** False for a first member that alone would break a rule which another may loosen. */
  isSound(): boolean
  /** Whether the oldest has waited long enough for a match that is not full. */
  mayBeSmall(): boolean
}

export interface DraftInput<Facts> {
  readonly model: Model<Facts>
  readonly columns: Columns
  readonly levels: Levels
  /** Of each ticket. */
  readonly facts: readonly (Facts | undefined)[]
  /** Who is there in an opening. */
  present(opening: Slot): readonly Facts[]
  /** Members at most. */
  readonly largest: number
}

export function createDraft<Facts>({ model, columns, levels, facts, present, largest }: DraftInput<Facts>): Draft {
  const { radius, spans, lastResortLevel } = model
  const { stride } = columns
  const many = spans.length
  const pair = model.checks?.pair
  const squared = radius?.squared
  const limits = spans.map(({ limit }) => limit)
  /** All rules of the columns go by each two tickets: whoever the first member allows need not be compared with it again. */
  const eachTwo = lastResortLevel === Infinity && [radius, ...spans].every((rule) => rule === undefined || rule.by === 'each')
  const guests = createCandidateCache(columns, levels)
  const members = new Int32Array(largest)
  /** Which guest each member is. */
  const guestAt = new Int32Array(largest)
  // What holds for the first n + 1 members, at n: so that the last one can be taken back.
  const youngest = new Uint8Array(largest)
  const oldest = new Uint8Array(largest)
  const waited = new Float64Array(largest)
  const longest = new Float64Array(largest)
  const farthest = new Float64Array(largest)
  const low = new Float64Array(largest * many)
  const high = new Float64Array(largest * many)
  /** Whether the first member is a running match. */
  let isOpening = false
  /** Of the first member alone. */
  let tooWide = false

  /** The level that counts for a rule about the whole match, with the first `all` members. */
  const counting = (by: 'each' | 'youngest' | 'oldest' | 'average', all: number): number => {
    if ((oldest[all - 1] as number) >= lastResortLevel) return lastResortLevel
    if (by === 'oldest') return oldest[all - 1] as number
    if (by === 'average') return levelAt(model.levels, (waited[all - 1] as number) / all)
    return youngest[all - 1] as number
  }

  /** Writes how long those wait who are members with the guest. */
  const note = (guest: Candidate): void => {
    const { count } = draft
    const level = guests.level[guest] as number
    const waits = levels.now - (guests.rows[guest * stride + SINCE] as number)
    const before = count - 1
    youngest[count] = count === 0 ? level : Math.min(level, youngest[before] as number)
    oldest[count] = count === 0 ? level : Math.max(level, oldest[before] as number)
    waited[count] = count === 0 ? waits : waits + (waited[before] as number)
    longest[count] = count === 0 ? waits : Math.max(waits, longest[before] as number)
  }

  /** The square of the distance of two guests. */
  const squareOf = (one: Candidate, other: Candidate): number => {
    const { rows } = guests
    const a = one * stride
    const b = other * stride
    const dx = (rows[a + X] as number) - (rows[b + X] as number)
    const dy = (rows[a + Y] as number) - (rows[b + Y] as number)
    const dz = (rows[a + Z] as number) - (rows[b + Z] as number)
    const square = dx * dx + dy * dy + dz * dz
    return Number.isNaN(square) ? squareUnknown(guests.slots[one] as Slot, guests.slots[other] as Slot) : square
  }
  /** In place of it where a place is unknown. */
  const squareUnknown = (one: Slot, other: Slot): number => {
    if (radius?.unknown === 'any') return 0
    const network = columns.network[one] as number
    return network !== -1 && network === columns.network[other] ? 0 : Infinity
  }

  /** The greatest difference among the values of two guests. Within an opening it is no fault of those who join. */
  const gap = (member: Candidate, guest: Candidate, span: number): number => {
    const { rows } = guests
    const value = VALUES + 2 * span
    const its = rows[member * stride + value] as number
    const most = rows[member * stride + value + 1] as number
    const least = rows[guest * stride + value] as number
    const greatest = rows[guest * stride + value + 1] as number
    if (isOpening && member === 0) return Math.max(greatest - its, most - least)
    return (greatest > most ? greatest : most) - (least < its ? least : its)
  }

  /** Whether two guests may be in one match by the columns, if all rules go by each two. */
  const agree = (member: Candidate, guest: Candidate): boolean => {
    const level = Math.min(guests.level[member] as number, guests.level[guest] as number)
    for (let span = 0; span < many; span++) {
      if (gap(member, guest, span) > ((limits[span] as Float64Array)[level] as number)) return false
    }
    return squared === undefined || squareOf(member, guest) <= (squared[level] as number)
  }

  /** Whether a guest is alike enough within itself, if all rules go by each two. */
  const isEven = (guest: Candidate): boolean => {
    for (let span = 0; span < many; span++) {
      const value = guest * stride + VALUES + 2 * span
      const own = (guests.rows[value + 1] as number) - (guests.rows[value] as number)
      if (own > ((limits[span] as Float64Array)[guests.level[guest] as number] as number)) return false
    }
    return true
  }

  const nearEnough = (guest: Candidate): boolean => {
    const { count } = draft
    if (radius === undefined) return true
    const { by } = radius
    const level = guests.level[guest] as number
    const pairwise = by === 'each' && (oldest[count] as number) < lastResortLevel
    let wide = count === 0 ? 0 : (farthest[count - 1] as number)
    for (let at = 0; at < count; at++) {
      const member = guestAt[at] as Candidate
      const square = squareOf(member, guest)
      if (square > wide) wide = square
      if (pairwise && square > (radius.squared[Math.min(level, guests.level[member] as number)] as number)) return false
    }
    farthest[count] = wide
    return pairwise || wide <= (radius.squared[counting(by, count + 1)] as number)
  }

  const alike = (guest: Candidate): boolean => {
    const { count } = draft
    const level = guests.level[guest] as number
    const last = (oldest[count] as number) >= lastResortLevel
    for (let span = 0; span < many; span++) {
      const { by, limit } = spans[span] as (typeof spans)[number]
      const to = count * many + span
      const value = guest * stride + VALUES + 2 * span
      const least = guests.rows[value] as number
      const greatest = guests.rows[value + 1] as number
      if (count === 0 && isOpening) {
        low[to] = Infinity
        high[to] = -Infinity
        continue
      }
      low[to] = count === 0 ? least : Math.min(low[to - many] as number, least)
      high[to] = count === 0 ? greatest : Math.max(high[to - many] as number, greatest)
      if (by !== 'each' || last) {
        const widest = limit[counting(by, count + 1)] as number
        if ((high[to] as number) - (low[to] as number) > widest) {
          // Alone it is too wide; with somebody older it may not be.
          if (count > 0 || last || (by !== 'oldest' && by !== 'average')) return false
          tooWide = true
        }
        if (isOpening && !nearPresent(span, low[to] as number, high[to] as number, widest)) return false
        continue
      }
      if (greatest - least > (limit[level] as number)) return false
      for (let at = 0; at < count; at++) {
        const member = guestAt[at] as Candidate
        const between = Math.min(level, guests.level[member] as number)
        if (gap(member, guest, span) > (limit[between] as number)) return false
      }
    }
    return true
  }
  const nearPresent = (span: number, least: number, greatest: number, widest: number): boolean => {
    const value = VALUES + 2 * span
    return Math.max(greatest - (guests.rows[value] as number), (guests.rows[value + 1] as number) - least) <= widest
  }

  const mayMeet = (guest: Candidate, from: number): boolean => {
    const { count } = draft
    if (pair === undefined) return true
    const last = (oldest[count] as number) >= lastResortLevel
    const level = guests.level[guest] as number
    const own = facts[guests.slots[guest] as Slot] as Facts
    for (let at = from; at < count; at++) {
      const between = last ? lastResortLevel : Math.min(level, guests.level[guestAt[at] as Candidate] as number)
      if (at === 0 && isOpening) {
        for (const there of present(members[0] as Slot)) if (!pair(there, own, between)) return false
      } else if (!pair(facts[members[at] as Slot] as Facts, own, between)) return false
    }
    return true
  }

  const hasKey = (guest: Candidate): boolean => draft.count === 0 || guests.rows[guest * stride + KEY] === guests.rows[KEY]

  /** @param from members before it have been asked. */
  const mayJoin = (guest: Candidate, from: number): boolean => {
    const { count } = draft
    if (count === largest) return false
    if (!eachTwo) {
      note(guest)
      return nearEnough(guest) && alike(guest) && mayMeet(guest, 0)
    }
    for (let at = from; at < count; at++) if (!agree(guestAt[at] as Candidate, guest)) return false
    note(guest)
    return mayMeet(guest, from)
  }
  const seat = (guest: Candidate): void => {
    const { count } = draft
    members[count] = guests.slots[guest] as Slot
    guestAt[count] = guest
    draft.count = count + 1
  }

  const invite = (slot: Slot): Candidate | undefined => {
    const guest = guests.receive(slot)
    if (hasKey(guest) && (!eachTwo || isEven(guest)) && mayJoin(guest, 0)) return guest
    guests.count -= 1
    return undefined
  }
  const join = (guest: Candidate): boolean => {
    if (!mayJoin(guest, 1)) return false
    seat(guest)
    return true
  }

  const draft: Mutable<Draft> = {
    members,
    guests,
    count: 0,
    begin: (slot) => {
      draft.count = 0
      guests.count = 0
      tooWide = false
      isOpening = columns.size[slot] === 0
      const guest = guests.receive(slot)
      if (eachTwo && !isOpening && !isEven(guest)) return false
      if (!mayJoin(guest, 0)) return false
      seat(guest)
      return true
    },
    add: (slot) => {
      const guest = invite(slot)
      if (guest === undefined) return false
      seat(guest)
      return true
    },
    admits: (slot) => {
      if (invite(slot) === undefined) return false
      guests.count -= 1
      return true
    },
    invite,
    join,
    drop: () => {
      draft.count -= 1
    },
    levels: () => ({
      youngest: counting('youngest', draft.count),
      oldest: counting('oldest', draft.count),
      average: counting('average', draft.count),
      now: levels.now,
    }),
    isSound: () => draft.count > 1 || !tooWide,
    mayBeSmall: () => (longest[draft.count - 1] as number) >= model.fillForMs,
  }
  return draft
}
