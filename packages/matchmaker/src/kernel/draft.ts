// pure: a match in the making, and who may still join it
import type { Columns } from './columns.js'
import type { Levels } from './levels.js'
import type { MatchLevels, Model, Slot } from './model.js'
import { levelAt } from './levels.js'

/**
 * Everything columns and pairs tell about a match, kept up to date member by member. What is about teams is not known
 * here. All limits only loosen with the level, so what was allowed among the first members stays so when the match
 * becomes one of last resort.
 */
export interface Draft {
  /** The first `count` of them. */
  readonly members: Int32Array
  readonly count: number
  /** Begins anew with one ticket or opening. False if not even it alone keeps the rules. */
  begin(slot: Slot): boolean
  /** Adds a ticket if it may be in a match with all others. */
  add(slot: Slot): boolean
  /** Takes the last one back. */
  drop(): void
  levels(): MatchLevels
  /** False for a first member that alone would break a rule which another may loosen. */
  readonly sound: boolean
  /** Whether the oldest has waited long enough for a match that is not full. */
  readonly mayBeSmall: boolean
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
  readonly most: number
}

export function createDraft<Facts>({ model, columns, levels, facts, present, most }: DraftInput<Facts>): Draft {
  const { radius, spans, lastResortLevel } = model
  const pair = model.checks?.pair
  const members = new Int32Array(most)
  const levelOf = new Uint8Array(most)
  // What holds for the first n + 1 members, at n: so that the last one can be taken back.
  const youngest = new Uint8Array(most)
  const oldest = new Uint8Array(most)
  const waited = new Float64Array(most)
  const longest = new Float64Array(most)
  const farthest = new Float64Array(most)
  const low = new Float64Array(most * spans.length)
  const high = new Float64Array(most * spans.length)
  let count = 0
  /** Of the first member alone. */
  let tooWide = false

  /** The level that counts for a rule about the whole match, with the first `many` members. */
  const counting = (by: 'each' | 'youngest' | 'oldest' | 'average', many: number): number => {
    if ((oldest[many - 1] as number) >= lastResortLevel) return lastResortLevel
    if (by === 'oldest') return oldest[many - 1] as number
    if (by === 'average') return levelAt(model.levels, (waited[many - 1] as number) / many)
    return youngest[many - 1] as number
  }

  /** In place of the square of a distance, where a place is unknown. */
  const squareUnknown = (one: Slot, other: Slot): number => {
    if (radius?.unknown === 'any') return 0
    const network = columns.network[one] as number
    return network !== -1 && network === columns.network[other] ? 0 : Infinity
  }

  const nearEnough = (slot: Slot, level: number): boolean => {
    if (radius === undefined) return true
    const { squared, by } = radius
    const { x, y, z } = columns
    const [ownX, ownY, ownZ] = [x[slot] as number, y[slot] as number, z[slot] as number]
    const pairwise = by === 'each' && (oldest[count] as number) < lastResortLevel
    let most = count === 0 ? 0 : (farthest[count - 1] as number)
    for (let at = 0; at < count; at++) {
      const other = members[at] as number
      const dx = (x[other] as number) - ownX
      const dy = (y[other] as number) - ownY
      const dz = (z[other] as number) - ownZ
      let square = dx * dx + dy * dy + dz * dz
      if (Number.isNaN(square)) square = squareUnknown(slot, other)
      if (square > most) most = square
      if (pairwise && square > (squared[Math.min(level, levelOf[at] as number)] as number)) return false
    }
    farthest[count] = most
    return pairwise || most <= (squared[counting(by, count + 1)] as number)
  }

  const alike = (slot: Slot, level: number): boolean => {
    const many = spans.length
    const { values, size } = columns
    const last = (oldest[count] as number) >= lastResortLevel
    for (let span = 0; span < many; span++) {
      const { by, limit } = spans[span] as (typeof spans)[number]
      const to = count * many + span
      if (size[slot] === 0) {
        // How different those are who play already is no fault of those who join them.
        low[to] = Infinity
        high[to] = -Infinity
        continue
      }
      const least = values[2 * (slot * many + span)] as number
      const greatest = values[2 * (slot * many + span) + 1] as number
      low[to] = count === 0 ? least : Math.min(low[to - many] as number, least)
      high[to] = count === 0 ? greatest : Math.max(high[to - many] as number, greatest)
      if (by !== 'each' || last) {
        const most = limit[counting(by, count + 1)] as number
        if ((high[to] as number) - (low[to] as number) > most) {
          // Alone it is too wide; with somebody older it may not be.
          if (count > 0 || last || (by !== 'oldest' && by !== 'average')) return false
          tooWide = true
        }
        if (count > 0 && size[members[0] as Slot] === 0 && gap(members[0] as Slot, span, low[to] as number, high[to] as number) > most) return false
        continue
      }
      if (greatest - least > (limit[level] as number)) return false
      for (let at = 0; at < count; at++) {
        if (gap(members[at] as Slot, span, least, greatest) > (limit[Math.min(level, levelOf[at] as number)] as number)) return false
      }
    }
    return true
  }

  /** The greatest difference among a member's values and others; those within an opening aside. */
  const gap = (member: Slot, span: number, least: number, greatest: number): number => {
    const value = 2 * (member * spans.length + span)
    const [low, high] = [columns.values[value] as number, columns.values[value + 1] as number]
    return columns.size[member] === 0 ? Math.max(greatest - low, high - least) : Math.max(greatest, high) - Math.min(least, low)
  }

  const mayMeet = (slot: Slot, level: number): boolean => {
    if (pair === undefined) return true
    const last = (oldest[count] as number) >= lastResortLevel
    const own = facts[slot] as Facts
    for (let at = 0; at < count; at++) {
      const other = members[at] as number
      const between = last ? lastResortLevel : Math.min(level, levelOf[at] as number)
      // Only an opening has no size.
      if (columns.size[other] === 0) {
        for (const there of present(other)) if (!pair(there, own, between)) return false
      } else if (!pair(facts[other] as Facts, own, between)) return false
    }
    return true
  }

  const add = (slot: Slot): boolean => {
    if (count === most || (count > 0 && columns.key[slot] !== columns.key[members[0] as number])) return false
    const level = levels.of(slot)
    const waits = levels.now - (columns.since[slot] as number)
    const before = count - 1
    youngest[count] = count === 0 ? level : Math.min(level, youngest[before] as number)
    oldest[count] = count === 0 ? level : Math.max(level, oldest[before] as number)
    waited[count] = count === 0 ? waits : waits + (waited[before] as number)
    longest[count] = count === 0 ? waits : Math.max(waits, longest[before] as number)
    if (!nearEnough(slot, level) || !alike(slot, level) || !mayMeet(slot, level)) return false
    members[count] = slot
    levelOf[count] = level
    count += 1
    return true
  }

  return {
    members,
    get count() {
      return count
    },
    begin: (slot) => {
      count = 0
      tooWide = false
      return add(slot)
    },
    add,
    drop: () => {
      count -= 1
    },
    levels: () => ({
      youngest: counting('youngest', count),
      oldest: counting('oldest', count),
      average: counting('average', count),
      now: levels.now,
    }),
    get sound() {
      return count > 1 || !tooWide
    },
    get mayBeSmall() {
      return (longest[count - 1] as number) >= model.fillForMs
    },
  }
}
