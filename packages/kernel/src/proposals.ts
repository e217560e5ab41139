// pure: matches made in bulk, as far as other rules allow
import type { Accept } from './accept.js'
import type { Columns } from './columns.js'
import type { Effort, Pausable } from './effort.js'
import type { Slot } from './model.js'
import type { Neighbours } from './neighbours.js'
import type { RoundState } from './round-state.js'

/** The time it takes to make a ticket part of a match, in tries. */
const GROUPED = 1 / 4

export interface Proposals {
  /** Takes `count` slots from `at` on as matches of `tickets` slots each. See `BulkInput.group`. */
  add(slots: Int32Array, at: number, count: number, tickets: number): void
  /** Makes the matches that other rules allow; returns how many are refused. */
  settle(): Pausable<number>
  /** Forgets those that are not settled. */
  clear(): void
}

export interface ProposalsInput {
  readonly columns: Columns
  readonly neighbours: Neighbours
  readonly state: RoundState
  readonly accept: Accept
  readonly effort: Effort
  /** Whether there are rules that the bulk does not know. */
  readonly isChecked: boolean
  /**
   * Tries that a round may spend on refused proposals beyond those that it spends on others; after that, all are
   * refused.
   */
  readonly mostWasted: number
}

export function createProposals(input: ProposalsInput): Proposals {
  const { columns, neighbours, state, accept, effort, isChecked, mostWasted } = input
  let proposals: Slot[][] = []
  let wasted = 0

  function* settle(): Pausable<number> {
    let refused = 0
    for (const members of proposals) {
      for (const slot of members) columns.taken[slot] = 0
      const before = effort.spent
      const isWorthATry = wasted <= mostWasted && members.every(state.free)
      const teams = isWorthATry ? yield* accept.accepted(members) : undefined
      const tries = effort.spent - before
      if (teams !== undefined && members.every(state.free)) {
        state.group(undefined, { slots: members, teams })
        wasted -= tries
      } else {
        refused += 1
        wasted += tries
      }
      // Where nothing is checked, no try has been made.
      effort.note(members.length * GROUPED)
      if (effort.isPauseDue()) yield effort.pause()
    }
    proposals = []
    return refused
  }

  return {
    settle,
    clear: () => {
      proposals = []
      wasted = 0
    },
    add: (slots, at, count, tickets) => {
      if (count === 0) return
      const { taken } = columns
      for (let from = at; from < at + count; from++) taken[slots[from] as Slot] = 1
      if (isChecked || state.isDisturbed) {
        for (let from = at; from < at + count; from += tickets)
          proposals.push([...slots.subarray(from, from + tickets)])
        return
      }
      state.groups.addRun(slots, at, count, tickets)
      // Tickets that are not in the index need not be removed from it.
      if (neighbours.count > 0) for (let from = at; from < at + count; from++) neighbours.remove(slots[from] as Slot)
    },
  }
}
