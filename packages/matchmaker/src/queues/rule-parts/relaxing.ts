// pure: the value of a relaxing limit after a wait

/** A limit that relaxes while tickets wait: at fixed times or, only in a queue with `targetWaitMs`, between bounds. */
export type RelaxingLimit = TimedLimit | LimitBounds

/**
 * A limit that relaxes at fixed times: one number, which never relaxes; steps, each in force from `afterMs`; or a
 * straight line. The first step has `afterMs` 0, and no step is stricter than the one before. A limit that rises may
 * end at Infinity, for no limit.
 */
export type TimedLimit = number | readonly RelaxationStep[] | LinearRelaxation

export interface RelaxationStep {
  /** Milliseconds of waiting after which the value counts. */
  readonly afterMs: number
  /** The limit after `afterMs`. */
  readonly value: number
}

/** Relaxes from one value to another in equal small steps, never ahead of the straight line. */
export interface LinearRelaxation {
  /** The initial limit. */
  readonly from: number
  /** The final limit. */
  readonly to: number
  /** Milliseconds of waiting at which the limit begins to relax. Default 0. */
  readonly startMs?: number | undefined
  /** Milliseconds from `startMs` until `to` is reached. */
  readonly overMs: number
}

/** A limit that follows the arrival of suitable players, so that tickets wait about the queue's `targetWaitMs`. */
export interface LimitBounds {
  /** The limit while many suitable players arrive. */
  readonly strictest: number
  /** The limit while few arrive, and after a long wait. */
  readonly loosest: number
}

/** How limits are divided into steps. */
export interface RelaxationSteps {
  /** Number of steps of a line. */
  readonly steps: number
  /** Milliseconds from the strictest limit of bounds to the loosest; 0 in queues without `targetWaitMs`. */
  readonly spanMs: number
}

/** Number of steps between bounds: enough that no step loosens a limit by more than a few percent. */
const STEPS_OF_BOUNDS = 24

/** Number of target waits from the strictest limit to the loosest (measured: decision 0078). */
const TARGETS_OF_SPAN = 5

/** Returns how a queue's limits are divided into steps. */
export const relaxationStepsOf = (steps: number, targetWaitMs = 0): RelaxationSteps => ({
  steps,
  spanMs: TARGETS_OF_SPAN * targetWaitMs,
})

export const isBounds = (relaxing: RelaxingLimit): relaxing is LimitBounds =>
  typeof relaxing === 'object' && 'strictest' in relaxing

const isLinear = (relaxing: RelaxingLimit): relaxing is LinearRelaxation =>
  typeof relaxing === 'object' && 'from' in relaxing

/** Returns the wait in milliseconds at which a line reaches the `step`th of `steps` even steps. */
const stepMs = ({ startMs = 0, overMs }: LinearRelaxation, step: number, steps: number): number =>
  startMs + (overMs * step) / steps

/** Returns the waits in milliseconds at which limits with bounds change, if no ticket has a head start. */
export const boundariesOfBounds = ({ spanMs }: RelaxationSteps): number[] =>
  Array.from({ length: STEPS_OF_BOUNDS }, (_, index) => (spanMs * (index + 1)) / STEPS_OF_BOUNDS)

/**
 * Returns the limit at a share of the way from the strictest to the loosest. Twice as many players need only half the
 * limit, so equal shares change the limit by equal factors. If a bound is 0 or negative, they change it by equal
 * differences.
 */
function between({ strictest: from, loosest: to }: LimitBounds, share: number): number {
  if (share >= 1) return to
  return from > 0 && to > 0 ? from * (to / from) ** share : from + (to - from) * share
}

/** Returns the waits, in milliseconds, at which a limit changes. */
export function boundariesOf(relaxing: RelaxingLimit, stairs: RelaxationSteps): number[] {
  const { steps } = stairs
  if (typeof relaxing === 'number') return []
  if (isBounds(relaxing)) return boundariesOfBounds(stairs)
  if (isLinear(relaxing)) return Array.from({ length: steps }, (_, index) => stepMs(relaxing, index + 1, steps))
  return relaxing.slice(1).map(({ afterMs }) => afterMs)
}

/** Returns the limit after a wait of `waitedMs` milliseconds. */
export function limitAt(relaxing: RelaxingLimit, waitedMs: number, stairs: RelaxationSteps): number {
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

export function strictest(relaxing: RelaxingLimit): number {
  if (typeof relaxing === 'number') return relaxing
  if (isBounds(relaxing)) return relaxing.strictest
  return isLinear(relaxing) ? relaxing.from : (relaxing[0]?.value ?? 0)
}

export function loosest(relaxing: RelaxingLimit): number {
  if (typeof relaxing === 'number') return relaxing
  if (isBounds(relaxing)) return relaxing.loosest
  return isLinear(relaxing) ? relaxing.to : (relaxing.at(-1)?.value ?? 0)
}

/** Returns the value of a `require` rule if it is a limit, i.e. not a string, boolean or list. */
export function relaxingOf(value: RelaxingLimit | string | boolean | readonly string[]): RelaxingLimit | undefined {
  if (typeof value === 'string' || typeof value === 'boolean') return undefined
  return Array.isArray(value) && typeof value[0] === 'string' ? undefined : (value as RelaxingLimit)
}
