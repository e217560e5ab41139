// pure: pairs of tickets that are neighbours in the sort order, each the other's best partner there
import type { Columns } from './columns.js'
import type { CurveOrder } from './curve-order.js'
import type { Model, Slot } from './model.js'
import { COSINE, EAST, NORTH, RECORD, SLOT, STEPS, VALUE } from './pair-records.js'
import { units } from './scales.js'

/** How often the tickets left over look for each other. */
const TURNS = 2
/** A place too far from all others. */
const NOWHERE = STEPS * 2 ** 17
/** Costs are below this, in steps. */
const MOST_STEPS = 2 ** 26 - 1
/** Added to a cost that the limits forbid. */
const BEYOND = 2 ** 30
/** What is compared: costs times this, and below it what decides between equal ones. */
const SCALE = 4
/** Added for each level of both tickets. */
const HANDICAP = SCALE * Math.round(0.3 * STEPS)
/** Steps by which limits are widened, as rounded numbers are compared; `may` then decides exactly. */
const MARGIN = 2

/** In units of the strictest limits. */
export const GREATEST_COST = 2 ** 18

/** How the tickets of a pass are paired. */
export interface PairTerms {
  /** The cost that a pair stays below. */
  readonly most: number
  /**
   * Whether a cost below `most` proves that two tickets keep the rules, whoever they are. Costs start again from 0 at
   * `GREATEST_COST`, so none may reach it then.
   */
  readonly certain: boolean
  /** Whether two tickets keep the rules; asked of each pair found, where the cost proves nothing. */
  may(one: Slot, other: Slot): boolean
}

export interface PairScan {
  /**
   * Pairs the tickets from `first` to `end` of the order. Moves the records of each pair, one after the other, to
   * `pairs`, and those left over to the front of this part of the order. Returns how many records are paired.
   */
  run(first: number, end: number, terms: PairTerms, pairs: Int32Array): number
}

/**
 * Each ticket is compared with the next two. Costs are compared as integers, in steps, without branches: half of
 * these would be mispredicted. The lowest bit of a cost tells which of the next two tickets it is of. Of equal costs,
 * those of every second ticket and the next come first, so that tickets that are all alike do not all choose the one
 * before them.
 */
export function createPairScan(model: Model<never>, columns: Columns, sorted: CurveOrder): PairScan {
  const { radius, spans } = model
  const unit = units(model)
  const farthest = Int32Array.from(model.levels, (_, level) =>
    limitOf(radius === undefined ? 0 : Math.sqrt(radius.squared[level] as number) / unit.chord),
  )
  const widest = Int32Array.from(model.levels, (_, level) => limitOf((spans[0]?.limit[level] ?? 0) / unit.width))

  const within = (most: number, may: PairTerms['may']): Within => ({
    integers: sorted.sorted.integers,
    level: columns.level,
    farthest,
    widest,
    most,
    may: spans.length > 1 ? may : undefined,
  })

  /**
   * Takes pairs that break the rules out of those from `from` on, and adds them to the tickets left over, that end at
   * `left` of the order. Returns where the other pairs end.
   */
  const keepLegal = (pairs: Int32Array, from: number, until: number, may: PairTerms['may'], left: number): number => {
    const { integers } = sorted.sorted
    const slotOf = (at: number) => integers[RECORD * (pairs[at] as number) + SLOT] as Slot
    let end = from
    let leftEnd = left
    for (let at = from; at < until; at += 2) {
      const isLegal = may(slotOf(at), slotOf(at + 1))
      for (let of = at; of < at + 2; of++) {
        if (isLegal) pairs[end++] = pairs[of] as number
        else sorted.order[leftEnd++] = pairs[of] as number
      }
    }
    return end
  }

  return {
    run: (first, end, terms, pairs) => {
      const { floats } = sorted.sorted
      const nobody = floats.length / RECORD - 1
      floats[RECORD * nobody + NORTH] = NOWHERE
      const most = stepsOf(terms)
      const limits = terms.certain ? undefined : within(most, terms.may)
      let count = end - first
      let paired = 0
      for (let turn = 0; turn < TURNS && count > 1; turn++) {
        const part = sorted.order.subarray(first, first + count)
        const found = pairUp(part, floats, nobody, SCALE * (terms.certain ? most : MOST_STEPS), limits, pairs, paired)
        const left = first + count - (found - paired)
        paired = terms.certain ? found : keepLegal(pairs, paired, found, terms.may, left)
        count = end - first - paired
      }
      return paired
    },
  }
}

/** The cost that a pair stays below. As a proof it is two steps less, as costs are rounded down. */
const stepsOf = ({ most, certain }: PairTerms): number =>
  Math.min(MOST_STEPS, certain ? Math.floor(STEPS * most) - 2 : Math.ceil(STEPS * most))
const limitOf = (limit: number): number => Math.min(2 ** 30, Math.ceil(STEPS * limit) + MARGIN)

/** What tells whether two tickets are within each other's limits: those of a level are in steps. */
interface Within {
  readonly integers: Int32Array
  readonly level: Uint8Array
  readonly farthest: Int32Array
  readonly widest: Int32Array
  /** The cost that a pair stays below, in steps. */
  readonly most: number
  /** Asked of each two where there are rules that the limits do not tell. */
  readonly may: PairTerms['may'] | undefined
}

/**
 * Moves those that are each other's best and cost less than `most` from `order` to `pairs`, from `from` on, and the
 * others to the front of `order`; returns where the pairs end.
 */
function pairUp(
  order: Int32Array,
  floats: Float32Array,
  nobody: number,
  most: number,
  within: Within | undefined,
  pairs: Int32Array,
  from: number,
): number {
  const count = order.length
  let to = from
  let left = 0
  // Tickets in the order: two before, one before, this one, the next two.
  let i2 = 0
  let i1 = 0
  let i = order[0] as number
  let j1 = order[1] as number
  let n = floats[RECORD * i + NORTH] as number
  let e = floats[RECORD * i + EAST] as number
  let v = floats[RECORD * i + VALUE] as number
  let c = floats[RECORD * i + COSINE] as number
  let n1 = floats[RECORD * j1 + NORTH] as number
  let e1 = floats[RECORD * j1 + EAST] as number
  let v1 = floats[RECORD * j1 + VALUE] as number
  let c1 = floats[RECORD * j1 + COSINE] as number
  // The least cost so far of this ticket and the next, with tickets before; the costs that the two before chose.
  let own = most
  let next = most
  let chosen1 = -1
  let chosen2 = -1
  // −1 for a ticket that is paired.
  let taken1 = -1
  let taken2 = -1
  for (let at = 0; at < count; at++) {
    const j2 = at + 2 < count ? (order[at + 2] as number) : nobody
    const r = RECORD * j2
    const n2 = floats[r + NORTH] as number
    const e2 = floats[r + EAST] as number
    const v2 = floats[r + VALUE] as number
    const c2 = floats[r + COSINE] as number
    const distance1 = Math.sqrt((n1 - n) * (n1 - n) + c * c1 * (e1 - e) * (e1 - e))
    const distance2 = Math.sqrt((n2 - n) * (n2 - n) + c * c2 * (e2 - e) * (e2 - e))
    const gap1 = Math.abs(v1 - v)
    const gap2 = Math.abs(v2 - v)
    let first = (((distance1 + gap1) | 0) << 2) | ((at & 1) << 1)
    let second = (((distance2 + gap2) | 0) << 2) | 3
    if (within !== undefined) {
      first += handicap(within, i, j1, distance1, gap1)
      second += handicap(within, i, j2, distance2, gap2)
    }
    const best = lesser(first, second)
    // Whether this ticket and the one before that its least cost is of are each other's best.
    const far = -(own & 1)
    const differs = (((chosen2 & far) | (chosen1 & ~far)) ^ own) | ((best - own) >> 31)
    const pair = ~((differs | -differs) >> 31)
    pairs[to] = (i2 & far) | (i1 & ~far)
    pairs[to + 1] = i
    to += 2 & pair
    taken2 |= pair & far
    taken1 |= pair & ~far
    order[left] = i2
    left += 1 + taken2
    // One ticket on.
    taken2 = taken1
    taken1 = pair
    const ahead = (best - own) >> 31
    chosen2 = chosen1
    chosen1 = best | ~ahead
    own = lesser(next, first)
    next = lesser(most, second)
    i2 = i1
    i1 = i
    i = j1
    j1 = j2
    n = n1
    e = e1
    v = v1
    c = c1
    n1 = n2
    e1 = e2
    v1 = v2
    c1 = c2
  }
  order[left] = i2
  left += 1 + taken2
  if (left < count) order[left] = i1
  return to
}

/**
 * What is added to the cost of two tickets: `BEYOND` where they may not be matched; otherwise the more the longer they
 * have waited, so that tickets with close limits, which have few partners, are matched before tickets with many.
 */
function handicap(within: Within, record: number, next: number, distance: number, gap: number): number {
  const { integers, level, farthest, widest, most, may } = within
  const one = integers[RECORD * record + SLOT] as Slot
  const other = integers[RECORD * next + SLOT] as Slot
  const own = level[one] as number
  const others = level[other] as number
  const least = lesser(own, others)
  const left =
    ((farthest[least] as number) - (distance | 0)) |
    ((widest[least] as number) - (gap | 0)) |
    (most - ((distance + gap) | 0))
  if (may !== undefined && left >= 0 && !may(one, other)) return BEYOND
  return ((left >> 31) & BEYOND) + HANDICAP * (own + others)
}

const lesser = (one: number, other: number): number => {
  const by = (one - other) | 0
  return (other + (by & (by >> 31))) | 0
}
