// pure: makes matches of any tickets of a crowd that are neighbours on the curve
import type { Pausable } from '../data/budget.js'
import { isFree } from '../data/columns.js'
import type { Slot } from '../data/model.js'
import type { Search } from '../search/search.js'
import { type BulkCrowd, CROWD, type CrowdParts } from './crowd.js'
import { RUN_CAPS } from './crowd-runs.js'
import { alongCurve } from './curve.js'

/** Maximum mean cost of the pairs of a match. */
const TEAM_CAP = 1
/** Number of neighbours on the curve, per player of the match, among which its members are chosen. */
const NEIGHBOURS = 4

/** Makes matches, each of a ticket and of candidates that follow it on the curve. */
export function* matchTeams<Facts>(parts: CrowdParts<Facts>, search: Search<Facts>, crowd: BulkCrowd): Pausable<void> {
  const { columns, budget, draft, state, players } = parts
  if (crowd.slots.length < CROWD) return
  const { slots: sorted } = yield* alongCurve(crowd, RUN_CAPS.length)
  const among = new Int32Array(NEIGHBOURS * players)
  for (let at = 0; at < sorted.length; at++) {
    if (budget.isPauseDue()) yield budget.pause()
    if (state.isOver()) return
    const anchor = sorted[at] as Slot
    if (!isFree(columns, anchor)) continue
    let many = 0
    let missing = players - (columns.size[anchor] as number)
    const end = Math.min(sorted.length, at + 1 + among.length)
    for (let next = at + 1; next < end; next++) {
      const slot = sorted[next] as Slot
      if (!isFree(columns, slot) || (draft.isPairwise && !draft.mayMeet(anchor, slot))) continue
      among[many++] = slot
      missing -= columns.size[slot] as number
    }
    budget.chargeTime(many / 16)
    if (missing > 0) continue
    const { tries, spent } = budget
    const { rejected } = search
    const found = yield* search.around(anchor, { among: among.subarray(0, many), mostCost: TEAM_CAP })
    if (found !== undefined) state.group(undefined, found)
    // Only checks of whole matches take long with so few candidates, so other failures are not counted.
    else if (search.rejected > rejected) state.failed(tries, spent)
  }
}
