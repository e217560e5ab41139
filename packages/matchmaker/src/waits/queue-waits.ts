import { kindOf, type Kind } from './kinds.js'
import { createSurvey, curvesFrom, type LearnedCurves, type Survey } from './survey.js'
import { WaitCell } from './wait-cell.js'

/** Milliseconds for which what was computed is used again: many may ask. */
const GOOD_MS = 1000

const NOTHING: LearnedCurves = { all: null, regions: {}, kinds: {} }

/** How long tickets wait in a queue, learned from those that do. It has at most `KINDS` cells, whatever is claimed. */
export interface QueueWaits {
  /** The cell in which tickets of this kind are counted. */
  cellOf(kind: Kind, now: number): WaitCell
  /** What was learned, at most a second old. */
  survey(now: number): Survey
  /** While the queue makes no matches, nothing is learned, and nobody knows how long tickets wait. */
  setPaused(isPaused: boolean, now: number): void
  /** How many wait now. */
  count(): { readonly tickets: number; readonly players: number }
}

export function createQueueWaits(): QueueWaits {
  const cells = new Map<number, WaitCell>()
  let survey: Survey | undefined
  let pausedNow = false

  return {
    cellOf: (kind, now) => {
      const number = kindOf(kind)
      let cell = cells.get(number)
      if (cell === undefined) cells.set(number, (cell = new WaitCell(now, pausedNow)))
      return cell
    },

    survey: (now) => {
      if (survey !== undefined && now - survey.at < GOOD_MS) return survey
      for (const [kind, cell] of cells) if (cell.isFaded(now)) cells.delete(kind)
      survey = pausedNow ? { at: now, ...curvesFrom(NOTHING), learned: () => NOTHING } : createSurvey(cells, now)
      return survey
    },

    setPaused: (isPaused, now) => {
      pausedNow = isPaused
      survey = undefined
      for (const cell of cells.values()) cell.setPaused(isPaused, now)
    },

    count: () => {
      let [tickets, players] = [0, 0]
      for (const { waiting } of cells.values()) {
        tickets += waiting.tickets
        players += waiting.players
      }
      return { tickets, players }
    },
  }
}
