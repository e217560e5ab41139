// pure: finds room for who is left over, by making other matches of those that were made
import type { Draft } from './draft.js'
import type { Groups } from './groups.js'
import type { Grouped, Slot } from './model.js'
import type { Search } from './search.js'
import type { Found } from './search-terms.js'

export interface Augmenting {
  readonly search: Pick<Search<never>, 'around' | 'work'>
  readonly draft: Pick<Draft, 'begin' | 'add'>
  /** Of the round. */
  readonly groups: Pick<Groups, 'told' | 'replace'>
  free(slot: Slot): boolean
  /** Whether it has not been removed since the round began. */
  there(slot: Slot): boolean
  /** Whether enough was tried. */
  isOver(): boolean
  /** Whether one ticket is of a higher priority than another of the same size. */
  isAhead(slot: Slot, other: Slot): boolean
  /** Takes a slot out of the round, and puts it back. */
  take(slot: Slot): void
  release(slot: Slot): void
}

/** A ticket that was refused before a match was taken apart may be in one now. */
const ANEW = { all: true, anew: true }
/** Matches that are tried for one ticket, and for all. */
const TRIES_EACH = 8
const TRIES = 200

/**
 * Greedy choices leave some without a match that need not be: one takes the only companion of another, and could have
 * had somebody else. For each that is left, in order, a match nearby is taken apart and made again with it, if then
 * there is a second one and everybody of the first one still has a match: who was matched stays so. Yields the work
 * done.
 */
export function* augment(
  { search, draft, groups, free, there, isOver, isAhead, take, release }: Augmenting,
  left: Int32Array,
): Generator<number, void> {
  let tries = TRIES

  /** Whether a ticket that is left might play in place of one of a lower priority. */
  const passesOver = ({ slots }: Found): boolean =>
    left.some(
      (slot) =>
        free(slot) &&
        !slots.includes(slot) &&
        slots.some((member) => isAhead(slot, member) && mayMeetAll(slot, slots, member)),
    )
  const mayMeetAll = (slot: Slot, slots: readonly Slot[], but: Slot) =>
    draft.begin(slot) && slots.every((member) => member === but || draft.add(member))

  /** Two matches that hold everybody of a match, and the ticket. */
  const apart = (slot: Slot, { slots }: Grouped): readonly [Found, Found] | undefined => {
    const first = search.around(slot, ANEW)
    if (first === undefined) return undefined
    const others = slots.filter((member) => !first.slots.includes(member))
    const [next] = others
    if (next === undefined) return undefined
    first.slots.forEach(take)
    const second = search.around(next, ANEW)
    if (
      second !== undefined &&
      others.every((member) => second.slots.includes(member)) &&
      !passesOver(first) &&
      !passesOver(second)
    ) {
      second.slots.forEach(take)
      return [first, second]
    }
    first.slots.forEach(release)
    return undefined
  }

  const mayMeetOne = (slot: Slot, { slots }: Grouped): boolean =>
    draft.begin(slot) && slots.some((member) => draft.add(member))

  for (const slot of left) {
    if (tries <= 0 || isOver()) return
    const before = search.work()
    let triesLeft = TRIES_EACH
    for (const match of groups.told()) {
      if (!free(slot) || triesLeft <= 0 || tries <= 0 || isOver()) break
      if (match.opening !== undefined || !match.slots.every(there) || !mayMeetOne(slot, match)) continue
      triesLeft -= 1
      tries -= 1
      match.slots.forEach(release)
      const both = apart(slot, match)
      if (both === undefined) match.slots.forEach(take)
      else groups.replace(match, both)
    }
    yield search.work() - before
  }
}
