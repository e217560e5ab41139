// pure: matches tickets one by one where two make a match, by what is known of who may meet whom
import type { Columns } from './columns.js'
import type { Cost } from './cost.js'
import type { Draft } from './draft.js'
import type { Effort, Pausable } from './effort.js'
import type { Levels } from './levels.js'
import { Meetings } from './meetings.js'
import type { Model, Slot } from './model.js'
import type { Packing } from './packing.js'
import { comparesTwo, type TooFarApart } from './pair-limits.js'
import { Sweep } from './sweep.js'

/** New tickets that are compared with each other at most, and pairs of them: per ticket, and in any case. */
const MOST = 4096
const MOST_COMPARED_EACH = 48
const COMPARED_ANYWAY = 4096
/** The time it takes to compare two tickets, and to choose among those that one has met, in tries. */
const COMPARED = 1 / 64
const CHOSEN = 1 / 2

export interface PairTurnsInput {
  readonly model: Model<never>
  readonly columns: Columns
  readonly levels: Levels
  readonly packing: Packing
  readonly draft: Pick<Draft, 'begin' | 'admits'>
  readonly effort: Effort
  readonly cost: Cost
  readonly isTooFarApart: TooFarApart
  /** Whether the tickets have different priorities. */
  ranked(): boolean
  /** Whether there are openings. */
  isVacant(): boolean
  free(slot: Slot): boolean
  group(slots: Slot[]): void
  /** Notes that no match was found for a ticket. @param sawAll whether none can hold it. */
  failed(slot: Slot, sawAll: boolean): void
}

/**
 * Where two tickets make a match, and comparing them decides whether they may, each pair is compared once for the whole
 * round: waiting tickets with new ones when these come in (`wake.ts`), and new ones with each other if the bulk has
 * left them. So no ticket is searched for in the index, and new tickets that are matched at once never enter it.
 */
export interface PairTurns {
  /** Whether the tickets of this round can be matched so. Forgets who has met in the round before. */
  begin(): boolean
  /** Notes that two tickets may be matched. */
  met(one: Slot, other: Slot): void
  /** Matches each ticket with the best of those that it has met. */
  tryKnown(anchors: Int32Array): Pausable<void>
  /** Compares new tickets with each other and matches them. Returns those not tried: all, where it would take long. */
  tryNew(anchors: Int32Array): Pausable<Int32Array>
}

const NOBODY = new Int32Array(0)

export function createPairTurns(input: PairTurnsInput): PairTurns {
  const { model, columns, packing, draft, effort, isTooFarApart, free, group, failed } = input
  const meetings = new Meetings(columns, input.cost)
  const isPossible =
    packing.players === 2 &&
    model.checks === undefined &&
    comparesTwo(model) &&
    model.teams.every(({ max, min }) => min.at(-1) === max)
  const sweep = new Sweep(model, columns, input.levels)

  /** Compares the ticket at a position of the sweep with those after it. */
  const meet = (at: number): void => {
    const { slots, ends } = sweep
    const slot = slots[at] as Slot
    const end = ends[at] as number
    let isBegun = false
    for (let to = at + 1; to < end; to++) {
      const other = slots[to] as Slot
      if (isTooFarApart(slot, other)) continue
      if (!isBegun && !draft.begin(slot)) return
      isBegun = true
      if (draft.admits(other)) meetings.add(slot, other)
    }
  }

  function* tryKnown(anchors: Int32Array): Pausable<void> {
    for (const slot of anchors) {
      if (!free(slot)) continue
      const other = meetings.bestOf(slot, free)
      effort.note(CHOSEN)
      if (other === undefined) failed(slot, true)
      else group([slot, other])
      if (effort.isPauseDue()) yield effort.pause()
    }
  }

  return {
    begin: () => {
      meetings.clear()
      return isPossible && columns.largest === 1 && !input.ranked() && !input.isVacant()
    },
    met: (one, other) => {
      meetings.add(one, other)
    },
    tryKnown,
    *tryNew(anchors) {
      if (anchors.length > MOST) return anchors
      if (!sweep.arrange(anchors.filter(free), COMPARED_ANYWAY + MOST_COMPARED_EACH * anchors.length)) return anchors
      for (let at = 0; at < sweep.slots.length; at++) {
        meet(at)
        effort.note(((sweep.ends[at] as number) - at) * COMPARED)
        if (effort.isPauseDue()) yield effort.pause()
      }
      yield* tryKnown(anchors)
      return NOBODY
    },
  }
}
