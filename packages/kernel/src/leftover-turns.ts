// pure: decides which tickets are searched for together
import { KEY } from './columns.js'
import type { Pausable } from './effort.js'
import { LeftoverSearch, type LeftoverSearchInput } from './leftover-search.js'
import type { Model, Slot } from './model.js'
import { filtered, groupedByKey } from './slices.js'

/**
 * With fewer tickets of a key to search for, or more tickets to copy, one search for each in the index is better:
 * copying them has to pay.
 */
const FEWEST = 64
const MOST_COPIED = 32_768
/** Tickets to copy at most, per ticket that is searched for. */
const MOST_COPIED_EACH = 16
const NOBODY = new Int32Array(0)

export interface LeftoverTurnsInput extends LeftoverSearchInput {
  /** Whether the tickets have different priorities. */
  ranked(): boolean
  /** The number of the round. */
  number(): number
  /** The number of keys in use. */
  keys(): number
  /** All waiting tickets. */
  all(): Int32Array
}

/**
 * Searches for matches of tickets, key by key, where a key has many of them. Returns the tickets that it has not tried,
 * in order.
 * @param others how many more tickets wait, among which they choose; those matched in this round may be counted.
 * @param thoroughly false to take a match only if those that fit best go together.
 */
export type LeftoverTurns = (anchors: Int32Array, others: number, thoroughly: boolean) => Pausable<Int32Array>

export function createLeftoverTurns(input: LeftoverTurnsInput): LeftoverTurns {
  const { model, columns, free, ranked } = input
  const search = mayBeSearchedTogether(model) ? new LeftoverSearch(input) : undefined
  const keyOf = (slot: Slot) => columns.rows[slot * columns.stride + KEY] as number
  /** The tickets of which key are copied, and in which round. */
  let copiedKey = NaN
  let copiedIn = NaN

  const isCopied = (key: number) => key === copiedKey && input.number() === copiedIn

  /** The slots of each key, in order. */
  function* byKey(slots: Int32Array): Pausable<Map<number, Int32Array>> {
    if (input.keys() === 1) return new Map([[keyOf(slots[0] as Slot), slots]])
    const grouped = slots.slice()
    const ends = yield* groupedByKey(grouped, keyOf)
    return new Map(
      Array.from(ends, (end, index) => [keyOf(grouped[end - 1] as Slot), grouped.subarray(ends[index - 1] ?? 0, end)]),
    )
  }

  /** Copies the tickets of a key; false if that would not pay, or some ticket has no place or no values. */
  function* copy(key: number, slots: Int32Array, wanted: number): Pausable<boolean> {
    if (slots.length > Math.min(MOST_COPIED, MOST_COPIED_EACH * wanted)) return false
    copiedIn = NaN
    if (search === undefined || !(yield* search.copy(slots))) return false
    copiedKey = key
    copiedIn = input.number()
    return true
  }

  return function* (anchors, others, thoroughly) {
    if (search === undefined || anchors.length < FEWEST || ranked()) return anchors
    const tried = new Set<number>()
    const wanted = yield* byKey(anchors)
    let waiting: Map<number, Int32Array> | undefined
    for (const [key, some] of wanted) {
      if (some.length < FEWEST) continue
      if (!isCopied(key)) {
        // With so many that wait, looking through all of them would take longer than these searches.
        if (anchors.length + others > MOST_COPIED_EACH * anchors.length) break
        waiting ??= others === 0 ? wanted : yield* byKey(yield* filtered(input.all(), free))
        if (!(yield* copy(key, waiting.get(key) ?? NOBODY, some.length))) continue
      }
      yield* search.run(some, thoroughly)
      tried.add(key)
    }
    return tried.size === wanted.size ? NOBODY : anchors.filter((slot) => !tried.has(keyOf(slot)))
  }
}

/** Whether a match is full, and decided by comparing two and two of its members by numbers alone. */
function mayBeSearchedTogether({ checks, lastResortLevel, radius, spans, teams }: Model<never>): boolean {
  return (
    checks === undefined &&
    lastResortLevel === Infinity &&
    [radius, ...spans].every((rule) => rule === undefined || rule.by === 'each') &&
    teams.every(({ max, min }) => min.at(-1) === max)
  )
}
