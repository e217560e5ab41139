// pure: matches tickets that are left over by rearranging matches that were made
import type { Draft } from './draft.js'
import type { Effort, Pausable } from './effort.js'
import type { Groups } from './groups.js'
import type { MatchBounds } from './match-bounds.js'
import type { Grouped, Slot } from './model.js'
import type { SearchScale } from './scales.js'
import type { Search } from './search.js'
import type { Found } from './search-terms.js'

export interface Augmenting {
  readonly search: Pick<Search<never>, 'around'>
  readonly draft: Pick<Draft, 'begin' | 'add' | 'admits'>
  readonly effort: Pick<Effort, 'isPauseDue' | 'pause'>
  /** The matches of the round. */
  readonly groups: Pick<Groups, 'single' | 'withdraw' | 'restore' | 'replace'>
  boundsOf(matches: readonly Grouped[]): MatchBounds
  /** The scale at which every ticket is near that the ticket may be matched with. */
  lastScale(slot: Slot): SearchScale
  free(slot: Slot): boolean
  /** Whether the ticket has been in the pool since the round began. */
  isPresent(slot: Slot): boolean
  /** Whether the effort for rearranging is spent. */
  isOver(): boolean
  /** Whether a ticket has a higher priority than another of the same size. */
  isAhead(slot: Slot, other: Slot): boolean
  /** `take` removes a slot from the round, `release` puts it back. */
  take(slot: Slot): void
  release(slot: Slot): void
}

/** Refused tickets are searched again: taking a match apart may free the partner they lacked. */
const ANEW = { all: true, anew: true }
/** Matches that are taken apart at most, for one ticket and for the whole round. */
const TRIES_EACH = 8
const TRIES = 200

/**
 * Greedy choices leave some tickets without a match needlessly: one ticket takes the only possible partner of another,
 * though it had others to choose from. For each ticket left, in order, a match nearby is taken apart and made again
 * with that ticket, if everybody else of the match then gets into a second one. So whoever was matched stays matched.
 * While a match is apart, nobody is told of it: the search may pause.
 */
export function* augment(
  { search, draft, effort, groups, boundsOf, lastScale, free, isPresent, isOver, isAhead, take, release }: Augmenting,
  left: Int32Array,
): Pausable<void> {
  let tries = TRIES

  /** Whether a ticket left over could play in place of a member of lower priority. */
  const passesOver = ({ slots }: Found): boolean =>
    left.some(
      (slot) =>
        free(slot) &&
        !slots.includes(slot) &&
        slots.some((member) => isAhead(slot, member) && mayMeetAll(slot, slots, member)),
    )
  const mayMeetAll = (slot: Slot, slots: readonly Slot[], but: Slot) =>
    draft.begin(slot) && slots.every((member) => member === but || draft.add(member))

  /** Two matches that together hold the ticket and every member of the given match. */
  function* apart(slot: Slot, { slots }: Grouped): Pausable<readonly [Found, Found] | undefined> {
    const first = yield* search.around(slot, ANEW)
    if (first === undefined) return undefined
    const others = slots.filter((member) => !first.slots.includes(member))
    const [next] = others
    if (next === undefined || !free(next)) return undefined
    first.slots.forEach(take)
    const second = yield* search.around(next, ANEW)
    if (
      second !== undefined &&
      first.slots.every(isPresent) &&
      others.every((member) => second.slots.includes(member)) &&
      !passesOver(first) &&
      !passesOver(second)
    ) {
      second.slots.forEach(take)
      return [first, second]
    }
    first.slots.filter(isPresent).forEach(release)
    return undefined
  }

  /** The matches of the round, until some of them change. */
  let bounds: MatchBounds | undefined

  /** Whether the only ticket of the draft may meet a member. It stays the only one. */
  const mayMeetOne = ({ slots }: Grouped): boolean => slots.some((member) => draft.admits(member))

  for (const slot of left) {
    if (tries <= 0 || isOver()) return
    let triesLeft = TRIES_EACH
    let isDrafted = false
    const near = (bounds ??= boundsOf(groups.single()))
    const { matches } = near
    const scale = lastScale(slot)
    for (let at = near.nextNear(slot, scale, 0); at < matches.length; at = near.nextNear(slot, scale, at + 1)) {
      if (!free(slot) || triesLeft <= 0 || tries <= 0 || isOver()) break
      const match = matches[at] as Grouped
      if (match.opening !== undefined || !match.slots.every(isPresent)) continue
      if (!isDrafted && !draft.begin(slot)) break
      isDrafted = true
      if (!mayMeetOne(match)) continue
      if (!groups.withdraw(match)) continue
      triesLeft -= 1
      tries -= 1
      match.slots.forEach(release)
      isDrafted = false
      const both = yield* apart(slot, match)
      if (both === undefined && match.slots.every(isPresent)) {
        match.slots.forEach(take)
        groups.restore()
        continue
      }
      groups.replace(both ?? [])
      bounds = undefined
    }
    if (effort.isPauseDue()) yield effort.pause()
  }
}
