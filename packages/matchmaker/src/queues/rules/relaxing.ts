// pure: what a relaxing limit is after how long a wait

/**
 * A limit that relaxes while tickets wait: one number, which never relaxes; steps, each in force from `afterMs` on; or
 * a straight line. The first step has `afterMs` 0, and no step is stricter than the one before; a limit that rises may
 * end at Infinity, for no limit.
 */
export type Relaxing = number | readonly RelaxationStep[] | LinearRelaxation

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

const isLinear = (relaxing: Relaxing): relaxing is LinearRelaxation =>
  typeof relaxing === 'object' && 'from' in relaxing

/** The wait in milliseconds at which a line reaches the `step`th of `steps` even steps. */
const stepMs = ({ startMs = 0, overMs }: LinearRelaxation, step: number, steps: number): number =>
  startMs + (overMs * step) / steps

/** The waits, in milliseconds, at which a limit changes. @param steps number of steps that a line is cut into. */
export function boundariesOf(relaxing: Relaxing, steps: number): number[] {
  if (typeof relaxing === 'number') return []
  if (isLinear(relaxing)) return Array.from({ length: steps }, (_, index) => stepMs(relaxing, index + 1, steps))
  return relaxing.slice(1).map(({ afterMs }) => afterMs)
}

/** The limit after a wait of `waitedMs` milliseconds. */
export function limitAt(relaxing: Relaxing, waitedMs: number, steps: number): number {
  if (typeof relaxing === 'number') return relaxing
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
  return isLinear(relaxing) ? relaxing.from : (relaxing[0]?.value ?? 0)
}

export function loosest(relaxing: Relaxing): number {
  if (typeof relaxing === 'number') return relaxing
  return isLinear(relaxing) ? relaxing.to : (relaxing.at(-1)?.value ?? 0)
}
