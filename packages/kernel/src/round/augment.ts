// pure: matches the tickets that a round left without a match, by rearranging the matches of the round
import type { Pausable } from '../data/budget.js'
import { isFree, isPresent } from '../data/columns.js'
import type { Grouped, Slot } from '../data/model.js'
import type { PoolParts } from '../data/parts.js'
import type { Draft } from '../search/draft.js'
import type { FoundTeams, Search, SearchTerms } from '../search/search.js'
import type { RoundState } from './state.js'

export interface AugmentInput<Facts> extends Pick<PoolParts<Facts>, 'columns' | 'budget'> {
  readonly search: Search<Facts>
  readonly draft: Draft<Facts>
  readonly state: RoundState
}

/** Maximum number of matches broken up for one ticket, and for the whole round. */
const TRIES_EACH = 8
const TRIES = 200
/** Searches refused tickets again, because breaking up a match may free the partner that they lacked. */
const ANEW: SearchTerms = { anew: true }

/**
 * Augments the matches. Greedy choices leave some tickets without a match needlessly, because one ticket takes the only
 * possible partner of another. For each remaining ticket, a nearby match is broken up if its members and the ticket
 * make two matches. So a matched ticket stays matched. A match that is broken up is not reported, because the search
 * may pause.
 */
export function* augment<Facts>(
  { columns, search, draft, budget, state }: AugmentInput<Facts>,
  left: readonly Slot[],
): Pausable<void> {
  const isAhead = (slot: Slot, other: Slot) =>
    columns.size[slot] === columns.size[other] &&
    (columns.priority[slot] as number) > (columns.priority[other] as number)
  const mayMeetAll = (slot: Slot, slots: readonly Slot[], but: Slot) =>
    draft.begin(slot) &&
    slots.every((member) => {
      if (member === but) return true
      if (!draft.admits(member)) return false
      draft.push(member)
      return true
    })
  /** True if a remaining ticket could play in place of a member of lower priority. */
  const passesOver = ({ slots }: FoundTeams): boolean =>
    left.some(
      (slot) =>
        isFree(columns, slot) &&
        !slots.includes(slot) &&
        slots.some((member) => isAhead(slot, member) && mayMeetAll(slot, slots, member)),
    )

  /** Returns two matches that together hold the ticket and every member of the given match. */
  function* apart(slot: Slot, { slots }: Grouped): Pausable<readonly [FoundTeams, FoundTeams] | undefined> {
    const first = yield* search.around(slot, ANEW)
    if (first === undefined) return undefined
    const others = slots.filter((member) => !first.slots.includes(member))
    const [next] = others
    if (next === undefined || !isFree(columns, next)) return undefined
    for (const member of first.slots) state.take(member)
    const second = yield* search.around(next, ANEW)
    if (
      second !== undefined &&
      first.slots.every((member) => isPresent(columns, member)) &&
      others.every((member) => second.slots.includes(member)) &&
      !passesOver(first) &&
      !passesOver(second)
    )
      return [first, second]
    for (const member of first.slots) if (isPresent(columns, member)) state.release(member)
    return undefined
  }

  let tries = TRIES
  for (const slot of left) {
    let triesLeft = TRIES_EACH
    if (!isFree(columns, slot) || !draft.begin(slot)) continue
    const near = state.groups.filter(
      ({ opening, slots }) => opening === undefined && slots.some((member) => draft.admits(member)),
    )
    budget.chargeTime(state.groups.length / 8)
    for (const match of near) {
      if (tries <= 0 || state.isOver()) return
      if (triesLeft <= 0 || !isFree(columns, slot)) break
      if (!state.groups.includes(match) || !match.slots.every((member) => isPresent(columns, member))) continue
      triesLeft -= 1
      tries -= 1
      state.groups.splice(state.groups.indexOf(match), 1)
      for (const member of match.slots) state.release(member)
      const both = yield* apart(slot, match)
      if (both === undefined) {
        if (!match.slots.every((member) => isPresent(columns, member))) continue
        for (const member of match.slots) state.take(member)
        state.groups.push(match)
        continue
      }
      state.made -= 1
      for (const found of both) state.group(undefined, found)
    }
    if (budget.isPauseDue()) yield budget.pause()
  }
}
