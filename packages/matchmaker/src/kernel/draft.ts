// pure: a match in the making, and who may still join it
import { KEY, SINCE, VALUES, X, Y, Z, type Columns } from './columns.js'
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
  /** Whether `add` would. */
  admits(slot: Slot): boolean
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
  readonly largest: number
}

export function createDraft<Facts>({ model, columns, levels, facts, present, largest }: DraftInput<Facts>): Draft {
  const { radius, spans, lastResortLevel } = model
  const pair = model.checks?.pair
  const squared = radius?.squared
  const limits = spans.map(({ limit }) => limit)
  const simple = lastResortLevel === Infinity && [radius, ...spans].every((rule) => rule === undefined || rule.by === 'each')
  const members = new Int32Array(largest)
  const levelOf = new Uint8Array(largest)
  // What holds for the first n + 1 members, at n: so that the last one can be taken back.
  const youngest = new Uint8Array(largest)
  const oldest = new Uint8Array(largest)
  const waited = new Float64Array(largest)
  const longest = new Float64Array(largest)
  const farthest = new Float64Array(largest)
  const low = new Float64Array(largest * spans.length)
  const high = new Float64Array(largest * spans.length)
  /** Copies of the members' places and values, side by side. */
  const places = new Float64Array(largest * 3)
  const lows = new Float64Array(largest * spans.length)
  const highs = new Float64Array(largest * spans.length)
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

  /** Where all rules go by each two tickets: the same as `nearEnough` and `alike`, in one go. */
  const fits = (slot: Slot, level: number): boolean => {
    const { rows } = columns
    const own = slot * columns.stride
    const many = spans.length
    const x = rows[own + X] as number
    const y = rows[own + Y] as number
    const z = rows[own + Z] as number
    for (let at = 0; at < count; at++) {
      const between = Math.min(level, levelOf[at] as number)
      if (squared !== undefined) {
        const dx = (places[3 * at] as number) - x
        const dy = (places[3 * at + 1] as number) - y
        const dz = (places[3 * at + 2] as number) - z
        let square = dx * dx + dy * dy + dz * dz
        if (Number.isNaN(square)) square = squareUnknown(slot, members[at] as Slot)
        if (square > (squared[between] as number)) return false
      }
      for (let span = 0; span < many; span++) {
        const value = own + VALUES + 2 * span
        if (gap(at, span, rows[value] as number, rows[value + 1] as number) > ((limits[span] as Float64Array)[between] as number)) return false
      }
    }
    for (let span = 0; span < many; span++) {
      const least = rows[own + VALUES + 2 * span] as number
      const greatest = rows[own + VALUES + 2 * span + 1] as number
      if (greatest - least > ((limits[span] as Float64Array)[level] as number) && columns.size[slot] !== 0) return false
      lows[count * many + span] = least
      highs[count * many + span] = greatest
    }
    places[3 * count] = x
    places[3 * count + 1] = y
    places[3 * count + 2] = z
    return true
  }

  const nearEnough = (slot: Slot, level: number): boolean => {
    if (radius === undefined) return true
    const { by } = radius
    const { rows } = columns
    const own = slot * columns.stride
    const x = rows[own + X] as number
    const y = rows[own + Y] as number
    const z = rows[own + Z] as number
    const pairwise = by === 'each' && (oldest[count] as number) < lastResortLevel
    let wide = count === 0 ? 0 : (farthest[count - 1] as number)
    for (let at = 0; at < count; at++) {
      const dx = (places[3 * at] as number) - x
      const dy = (places[3 * at + 1] as number) - y
      const dz = (places[3 * at + 2] as number) - z
      let square = dx * dx + dy * dy + dz * dz
      if (Number.isNaN(square)) square = squareUnknown(slot, members[at] as Slot)
      if (square > wide) wide = square
      if (pairwise && square > (radius.squared[Math.min(level, levelOf[at] as number)] as number)) return false
    }
    farthest[count] = wide
    places[3 * count] = x
    places[3 * count + 1] = y
    places[3 * count + 2] = z
    return pairwise || wide <= (radius.squared[counting(by, count + 1)] as number)
  }

  const alike = (slot: Slot, level: number): boolean => {
    const many = spans.length
    const { rows, size } = columns
    const last = (oldest[count] as number) >= lastResortLevel
    for (let span = 0; span < many; span++) {
      const { by, limit } = spans[span] as (typeof spans)[number]
      const to = count * many + span
      const value = slot * columns.stride + VALUES + 2 * span
      const least = rows[value] as number
      const greatest = rows[value + 1] as number
      lows[to] = least
      highs[to] = greatest
      if (size[slot] === 0) {
        // How different those are who play already is no fault of those who join them.
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
        if (count > 0 && size[members[0] as Slot] === 0 && gap(0, span, low[to] as number, high[to] as number) > widest) return false
        continue
      }
      if (greatest - least > (limit[level] as number)) return false
      for (let at = 0; at < count; at++) {
        if (gap(at, span, least, greatest) > (limit[Math.min(level, levelOf[at] as number)] as number)) return false
      }
    }
    return true
  }

  /** The greatest difference among the values of the member there and others; those within an opening aside. */
  const gap = (at: number, span: number, least: number, greatest: number): number => {
    const its = lows[at * spans.length + span] as number
    const most = highs[at * spans.length + span] as number
    if (at === 0 && columns.size[members[0] as Slot] === 0) return Math.max(greatest - its, most - least)
    return (greatest > most ? greatest : most) - (least < its ? least : its)
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
    if (count === largest || (count > 0 && columns.rows[slot * columns.stride + KEY] !== columns.rows[(members[0] as Slot) * columns.stride + KEY])) return false
    const level = levels.of(slot)
    const waits = levels.now - (columns.rows[slot * columns.stride + SINCE] as number)
    const before = count - 1
    youngest[count] = count === 0 ? level : Math.min(level, youngest[before] as number)
    oldest[count] = count === 0 ? level : Math.max(level, oldest[before] as number)
    waited[count] = count === 0 ? waits : waits + (waited[before] as number)
    longest[count] = count === 0 ? waits : Math.max(waits, longest[before] as number)
    if (simple ? !fits(slot, level) : !nearEnough(slot, level) || !alike(slot, level)) return false
    if (!mayMeet(slot, level)) return false
    members[count] = slot
    levelOf[count] = level
    count += 1
    return true
  }

  /** The same as `add` where all rules go by each two tickets, and the first member is all there is: most are asked for then. */
  const mayJoinFirst = (slot: Slot): boolean => {
    const { rows, stride } = columns
    const own = slot * stride
    const first = members[0] as Slot
    if (rows[own + KEY] !== rows[first * stride + KEY]) return false
    const level = Math.min(levels.of(slot), levelOf[0] as number)
    for (let span = 0; span < spans.length; span++) {
      const value = own + VALUES + 2 * span
      if (gap(0, span, rows[value] as number, rows[value + 1] as number) > ((limits[span] as Float64Array)[level] as number)) return false
    }
    if (squared !== undefined) {
      const dx = (places[0] as number) - (rows[own + X] as number)
      const dy = (places[1] as number) - (rows[own + Y] as number)
      const dz = (places[2] as number) - (rows[own + Z] as number)
      let square = dx * dx + dy * dy + dz * dz
      if (Number.isNaN(square)) square = squareUnknown(slot, first)
      if (square > (squared[level] as number)) return false
    }
    return pair === undefined || pair(facts[first] as Facts, facts[slot] as Facts, level)
  }

  const admits = (slot: Slot): boolean => {
    if (simple && count === 1 && columns.size[members[0] as Slot] !== 0) return mayJoinFirst(slot)
    if (!add(slot)) return false
    count -= 1
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
    admits,
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
