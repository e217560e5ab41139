// pure: what a relaxing limit is after how long a wait

/**
 * A limit that relaxes while tickets wait: at times set by hand or, in a queue with `targetWaitMs` and only there,
 * between bounds.
 */
export type Relaxing = TimedLimit | LimitBounds

/**
 * A limit set by hand: one number, which never relaxes; steps, each in force from `afterMs` on; or a straight line. The
 * first step has `afterMs` 0, and no step is stricter than the one before; a limit that rises may end at Infinity, for
 * no limit.
 */
export type TimedLimit = number | readonly RelaxationStep[] | LinearRelaxation

export interface RelaxationStep {
  /** Milliseconds of waiting from which the value counts. */
  readonly afterMs: number
  /** The limit from then on. */
  readonly value: number
}

/** Relaxes from one value to another in even small steps, which never run ahead of the straight line. */
export interface LinearRelaxation {
  /** The limit at first. */
  readonly from: number
  /** The limit in the end. */
  readonly to: number
  /** Milliseconds of waiting at which it begins to relax. Default 0. */
  readonly startMs?: number | undefined
  /** Milliseconds from `startMs` until `to` is reached. */
  readonly overMs: number
}

/** A limit that follows how many suitable players come, so that tickets wait as long as the queue aims at. */
export interface LimitBounds {
  /** The limit where most suitable players come. */
  readonly strictest: number
  /** The limit where fewest come, and after a long wait. */
  readonly loosest: number
}

/** How limits become steps. */
export interface Stairs {
  /** Number of steps that a line is cut into. */
  readonly steps: number
  /** Milliseconds from the strictest limit of bounds to the loosest; 0 in queues without `targetWaitMs`. */
  readonly spanMs: number
}

/** Number of steps that bounds are cut into: enough that none loosens a limit by more than a few percent. */
const STEPS_OF_BOUNDS = 24

/** How many times the target wait it takes from the strictest limit to the loosest (measured: decision 0078). */
const TARGETS_OF_SPAN = 5

/** The stairs of a queue. */
export const stairsOf = (steps: number, targetWaitMs = 0): Stairs => ({
  steps,
  spanMs: TARGETS_OF_SPAN * targetWaitMs,
})

export const isBounds = (relaxing: Relaxing): relaxing is LimitBounds =>
  typeof relaxing === 'object' && 'strictest' in relaxing

const isLinear = (relaxing: Relaxing): relaxing is LinearRelaxation =>
  typeof relaxing === 'object' && 'from' in relaxing

/** The wait in milliseconds at which a line reaches the `step`th of `steps` even steps. */
const stepMs = ({ startMs = 0, overMs }: LinearRelaxation, step: number, steps: number): number =>
  startMs + (overMs * step) / steps

/** The waits at which limits with bounds change, if no ticket has a head start. */
export const boundariesOfBounds = ({ spanMs }: Stairs): number[] =>
  Array.from({ length: STEPS_OF_BOUNDS }, (_, index) => (spanMs * (index + 1)) / STEPS_OF_BOUNDS)

/**
 * So far from the strictest limit to the loosest, by equal factors: twice as many players allow half the limit,
 * whatever it is. By equal differences where a bound is 0 or negative.
 */
function between({ strictest: from, loosest: to }: LimitBounds, share: number): number {
  if (share >= 1) return to
  return from > 0 && to > 0 ? from * (to / from) ** share : from + (to - from) * share
}

/** The waits, in milliseconds, at which a limit changes. */
export function boundariesOf(relaxing: Relaxing, stairs: Stairs): number[] {
  const { steps } = stairs
  if (typeof relaxing === 'number') return []
  if (isBounds(relaxing)) return boundariesOfBounds(stairs)
  if (isLinear(relaxing)) return Array.from({ length: steps }, (_, index) => stepMs(relaxing, index + 1, steps))
  return relaxing.slice(1).map(({ afterMs }) => afterMs)
}

/** The limit after a wait of `waitedMs` milliseconds. */
export function limitAt(relaxing: Relaxing, waitedMs: number, stairs: Stairs): number {
  const { steps } = stairs
  if (typeof relaxing === 'number') return relaxing
  if (isBounds(relaxing)) {
    const reached = boundariesOfBounds(stairs).filter((ms) => ms <= waitedMs).length
    return between(relaxing, reached / STEPS_OF_BOUNDS)
  }
  if (isLinear(relaxing)) {
    const { from, to } = relaxing
    let step = steps
    while (step > 0 && waitedMs < stepMs(relaxing, step, steps)) step -= 1
    return step === steps ? to : from + ((to - from) * step) / steps
  }
  return relaxing.findLast(({ afterMs }) => afterMs <= waitedMs)?.value ?? strictest(relaxing)
}

export function strictest(relaxing: Relaxing): number {
  if (typeof relaxing === 'number') return relaxing
  if (isBounds(relaxing)) return relaxing.strictest
  return isLinear(relaxing) ? relaxing.from : (relaxing[0]?.value ?? 0)
}

export function loosest(relaxing: Relaxing): number {
  if (typeof relaxing === 'number') return relaxing
  if (isBounds(relaxing)) return relaxing.loosest
  return isLinear(relaxing) ? relaxing.to : (relaxing.at(-1)?.value ?? 0)
}

/** The value of a `require` rule if it is a limit, and not a text, boolean or list. */
export function relaxingOf(value: Relaxing | string | boolean | readonly string[]): Relaxing | undefined {
  if (typeof value === 'string' || typeof value === 'boolean') return undefined
  return Array.isArray(value) && typeof value[0] === 'string' ? undefined : (value as Relaxing)
}
