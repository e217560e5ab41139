// pure: looks for a match around one ticket, or for players for an opening
import { arrange, byPlan } from './arrange.js'
import { createCandidates } from './candidates.js'
import type { Columns } from './columns.js'
import type { Cost } from './cost.js'
import type { Draft } from './draft.js'
import type { Candidate } from './candidate-cache.js'
import type { Model, Slot } from './model.js'
import type { Mutable } from './mutable.js'
import type { Neighbours } from './neighbours.js'
import type { Packed, Packing } from './packing.js'
import type { SearchRadius } from './search-radius.js'
import { isPartOf, type Scale } from './scales.js'

/** Who goes together; `slots` without the opening. */
export interface Found {
  readonly slots: Slot[]
  readonly teams: readonly number[]
}

/** An opening and its room. */
export interface Vacancy<Facts> {
  readonly slot: Slot
  readonly packing: Packing
  readonly rooms: readonly number[]
  readonly present: readonly (readonly Facts[])[]
  /** Who is present, in all teams. */
  readonly everyone: readonly Facts[]
}

/** Tickets in the index from which on it is a crowd, for each player that a match lacks. */
const CROWD = 10_000
/** With so many times the players it takes, a match is tried for. */
const AMPLE = 2
/** Slots that are read in the time it takes to look at a member, as a power of two. */
const READS = 5
/** When so many are not enough, it is not for want of candidates. */
const MOST_CANDIDATES = 400

export interface Search<Facts> {
  /** A match with this ticket. */
  around(anchor: Slot): Found | undefined
  /** Players for an opening; `wanted` among them, if it is given. */
  fill(vacancy: Vacancy<Facts>, wanted: Slot | undefined): Found | undefined
  /** Whether the last search that found nothing has looked at all there was. */
  readonly sawAll: boolean
  /** Members looked at, since the beginning; slots read count as few. */
  work(): number
}

export interface SearchInput<Facts> {
  readonly model: Model<Facts>
  readonly columns: Columns
  readonly reach: SearchRadius
  readonly draft: Draft
  readonly packing: Packing
  readonly neighbours: Neighbours
  readonly facts: readonly (Facts | undefined)[]
  readonly cost: Cost
  /** Players thought of for one match before it is given up for this round. */
  effort(): number
}

export function createSearch<Facts>(input: SearchInput<Facts>): Search<Facts> {
  const { model, columns, reach, draft, neighbours } = input
  const { checks, teams } = model
  const part = checks?.part
  const candidates = createCandidates(input)
  const nobody = teams.map(() => 0)
  const noFacts = teams.map((): Facts[] => [])
  const full = teams.map(({ max }) => max)
  const mayEverBeSmall = teams.some(({ max, min }) => (min.at(-1) as number) < max)

  // The match that is being made.
  let packing = input.packing
  let opening: Vacancy<Facts> | undefined
  let rooms: readonly number[] = full
  /** Who sits where, as long as `part` must be asked; members without the opening, in their order. */
  let seats: number[] = []
  let seated: Facts[][] = []
  let left: number[] = []
  let found: Found | undefined
  let looks = 0
  let work = 0

  const start = (vacancy: Vacancy<Facts> | undefined): void => {
    opening = vacancy
    packing = vacancy?.packing ?? input.packing
    rooms = vacancy?.rooms ?? full
    found = undefined
    search.sawAll = true
    if (part === undefined) return
    seats = []
    seated = (vacancy?.present ?? noFacts).map((there) => [...there])
    left = [...rooms]
  }

  /** Goes on with the last member in each team in turn in which the match can still become one. */
  const seat = (slot: Slot, goOn: () => boolean): boolean => {
    if (part === undefined) return goOn()
    const size = columns.size[slot] as number
    const facts = input.facts[slot] as Facts
    const matchLevels = draft.levels()
    for (let team = 0; team < rooms.length; team++) {
      if ((left[team] as number) < size) continue
      take(team, size, facts)
      if (part(seated, left, matchLevels) && goOn()) return true
      giveBack(team, size)
    }
    return false
  }
  const take = (team: number, size: number, facts: Facts): void => {
    left[team] = (left[team] as number) - size
    seats.push(team)
    ;(seated[team] as Facts[]).push(facts)
  }
  const giveBack = (team: number, size: number): void => {
    left[team] = (left[team] as number) + size
    seats.pop()
    seated[team]?.pop()
  }

  /** Makes a match of the members, if they can be arranged so that they may play. */
  const close = (packed: Packed): boolean => {
    if (!draft.isSound()) return false
    const matchLevels = draft.levels()
    const isFull = packing.count(packed) === packing.players
    const least = isFull || opening !== undefined ? nobody : teams.map(({ min }) => min[matchLevels.oldest] as number)
    const slots = [...draft.members.subarray(opening === undefined ? 0 : 1, draft.count)]
    const sizes = slots.map((slot) => columns.size[slot] as number)
    const plan = () => {
      const parties = packing.plan(packed, matchLevels.oldest)
      return parties === undefined ? undefined : byPlan(sizes, parties)
    }
    const first = part !== undefined && least.every((min, team) => (rooms[team] as number) - (left[team] as number) >= min) ? [...seats] : plan()
    if (first === undefined) return false
    const arranged = arrange(
      checks,
      {
        sizes,
        facts: slots.map((slot) => input.facts[slot] as Facts),
        present: opening?.present ?? noFacts,
        rooms,
        least,
        levels: matchLevels,
      },
      first,
    )
    if (arranged === undefined) return false
    found = { slots, teams: arranged }
    return true
  }

  /** Full matches, those of the first candidates first. Gives up when it has looked too often. */
  const choose = (from: number, packed: Packed, playersLeft: number): boolean => {
    const missing = packing.players - packing.count(packed)
    if (missing === 0) return close(packed)
    const { guests, count } = candidates
    const { sizes } = draft.guests
    let behind = playersLeft
    for (let at = from; at < count && behind >= missing; at++) {
      const guest = guests[at] as Candidate
      const size = sizes[guest] as number
      behind -= size
      const next = packing.add(packed, size)
      if (next === -1) continue
      if (--looks < 0) {
        search.sawAll = false
        return false
      }
      work += 1
      if (!draft.join(guest)) continue
      if (part === undefined ? choose(at + 1, next, behind) : chooseSeat(draft.guests.slots[guest] as Slot, at + 1, next, behind)) return true
      draft.drop()
    }
    return false
  }
  const chooseSeat = (slot: Slot, from: number, packed: Packed, playersLeft: number): boolean =>
    seat(slot, () => choose(from, packed, playersLeft))

  /** As many as go together, the first candidates first, and then fewer until they may play. */
  const chooseSome = (packed: Packed, alone: boolean): boolean => {
    const path = [packed]
    for (const guest of candidates.guests.subarray(0, candidates.count)) {
      const next = packing.add(path.at(-1) as Packed, draft.guests.sizes[guest] as number)
      if (next === -1 || !draft.join(guest)) continue
      work += 1
      if (seatInEmptiest(draft.guests.slots[guest] as Slot)) path.push(next)
      else draft.drop()
    }
    for (;;) {
      const last = path.pop() as Packed
      if (path.length === 0 && !alone) return false
      if ((opening !== undefined || draft.mayBeSmall()) && close(last)) return true
      if (path.length === 0 || --looks < 0) return false
      draft.drop()
      if (part !== undefined) giveBack(seats.at(-1) as number, columns.size[draft.members[draft.count] as Slot] as number)
    }
  }

  const seatInEmptiest = (slot: Slot): boolean => {
    if (part === undefined) return true
    const size = columns.size[slot] as number
    const filled = (team: number) => 1 - (left[team] as number) / Math.max(1, rooms[team] as number)
    const order = rooms.map((_, team) => team).toSorted((one, other) => filled(one) - filled(other) || one - other)
    for (const team of order) {
      if ((left[team] as number) < size) continue
      take(team, size, input.facts[slot] as Facts)
      if (part(seated, left, draft.levels())) return true
      giveBack(team, size)
    }
    return false
  }

  /** Looks farther and farther away until there is a match with all who are in the draft. */
  const look = (packed: Packed, ticket: Slot | undefined): Found | undefined => {
    const seatFirst = (goOn: () => boolean) => (ticket === undefined || part === undefined ? goOn() : seat(ticket, goOn))
    candidates.begin(packing, packed)
    if (packing.count(packed) === packing.players) {
      seatFirst(() => close(packed))
      return found
    }
    const missing = packing.players - packing.count(packed)
    const last = reach(draft.members[0] as Slot)
    const small = opening !== undefined || (mayEverBeSmall && draft.mayBeSmall())
    // Where few are left, hardly two of them are as near as the first scale has it; the second one has them too.
    const sparse = last > 0 && neighbours.count < CROWD * missing && isPartOf(neighbours.scales[0] as Scale, neighbours.scales[1])
    /** How many were tried in vain: the same again would be again. */
    let tried = 0
    for (let scale = sparse ? 1 : 0; scale <= last; scale++) {
      // With just as many as it takes there is little to choose from: rather look farther.
      const wanted = scale === last ? missing : AMPLE * missing
      const skippable = scale === last ? !small : isPartOf(neighbours.scales[scale] as Scale, neighbours.scales[scale + 1])
      candidates.gather(scale, skippable ? (wanted - candidates.players) / columns.largest : 0)
      const { players, count } = candidates
      if (players < wanted || count === tried) continue
      tried = count
      candidates.sort()
      looks = input.effort() + count
      if (seatFirst(() => choose(0, packed, players))) return found
      if (scale === last || count < MOST_CANDIDATES) continue
      search.sawAll = false
      break
    }
    work += candidates.count
    if (candidates.more) search.sawAll = false
    if (!small) return undefined
    candidates.sort()
    looks = input.effort()
    if (ticket === undefined || seatInEmptiest(ticket)) chooseSome(packed, ticket !== undefined)
    return found
  }

  const search: Mutable<Search<Facts>> = {
    sawAll: true,
    work: () => work + (candidates.read >> READS),
    around: (anchor) => {
      start(undefined)
      work += 1
      const packed = packing.add(0, columns.size[anchor] as number)
      return packed === -1 || !draft.begin(anchor) ? undefined : look(packed, anchor)
    },
    fill: (vacancy, wanted) => {
      start(vacancy)
      work += 1
      if (vacancy.packing.players === 0 || !draft.begin(vacancy.slot)) return undefined
      if (wanted === undefined) return look(0, undefined)
      const packed = packing.add(0, columns.size[wanted] as number)
      return packed === -1 || !draft.add(wanted) ? undefined : look(packed, wanted)
    },
  }
  return search
}
