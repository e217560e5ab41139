import { kindOf, regionOfKind, type Kind } from './kinds.js'
import { createSteering, type Steering, type SteeringOptions, type TargetWaitState } from './steering.js'
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
  /** Whether matches are found, and there are no servers for them. Waits then tell nothing about limits. */
  setShort(isShort: boolean, now: number): void
  /** Limits are to be steered so, or not at all. What was learned is kept if it is as before. */
  aim(options: SteeringOptions | undefined): void
  /** The head start of each region, if it is time for new ones: see `Pool`. */
  headStarts(now: number): Float64Array | undefined
  /** Undefined where limits are not steered. */
  steering(): TargetWaitState | undefined
  /** How many wait now. */
  count(): { readonly tickets: number; readonly players: number }
}

export function createQueueWaits(): QueueWaits {
  const cells = new Map<number, WaitCell>()
  let survey: Survey | undefined
  let [pausedNow, shortNow] = [false, false]
  let aimed: SteeringOptions | undefined
  let steering: Steering | undefined

  /** The steering that was aimed at: made when the time is known. */
  const steeringAt = (now: number): Steering | undefined => {
    if (aimed === undefined || steering !== undefined) return steering
    steering = createSteering(aimed)
    steering.setHeld(pausedNow || shortNow, now)
    for (const [kind, cell] of cells) cell.countIn(steering.waitsOf(regionOfKind(kind), now), now)
    return steering
  }

  return {
    cellOf: (kind, now) => {
      const number = kindOf(kind)
      let cell = cells.get(number)
      const steered = steeringAt(now)
      if (cell === undefined) {
        cells.set(number, (cell = new WaitCell(now, pausedNow)))
        cell.countIn(steered?.waitsOf(regionOfKind(number), now), now)
      }
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
      steering?.setHeld(pausedNow || shortNow, now)
      for (const cell of cells.values()) cell.setPaused(isPaused, now)
    },

    setShort: (isShort, now) => {
      if (shortNow === isShort) return
      shortNow = isShort
      steering?.setHeld(pausedNow || shortNow, now)
    },

    aim: (options) => {
      if (options?.targetWaitMs === aimed?.targetWaitMs && options?.mostMs === aimed?.mostMs) return
      aimed = options
      steering = undefined
      for (const cell of cells.values()) cell.countIn(undefined, 0)
    },
    headStarts: (now) => steeringAt(now)?.renewed(now),
    steering: () => steering?.state(),

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
