// pure: what a relaxing limit is after how long a wait

/**
 * A limit that gives way while tickets wait: one number, never relaxed; steps, each in force from `afterMs` on (the first has 0,
 * and none is stricter than the one before; one that rises may come to Infinity, for no limit); or a straight line.
 */
export type Relaxing = number | readonly RelaxationStep[] | LinearRelaxation

export interface RelaxationStep {
  /** Milliseconds of waiting. */
  readonly afterMs: number
  readonly value: number
}

/** From one value to another in even small steps that never run ahead of the line. */
export interface LinearRelaxation {
  readonly from: number
  readonly to: number
  /** Milliseconds of waiting at which it begins to give way. Default 0. */
  readonly startMs?: number | undefined
  /** Milliseconds from there until `to` is reached. */
  readonly overMs: number
}

const isLinear = (relaxing: Relaxing): relaxing is LinearRelaxation => typeof relaxing === 'object' && 'from' in relaxing

/** After how many milliseconds a line has got as far as the `step`th of so many even steps. */
const stepMs = ({ startMs = 0, overMs }: LinearRelaxation, step: number, steps: number): number =>
  startMs + (overMs * step) / steps

/** The waits, in milliseconds, at which a limit changes. @param steps into which lines are cut. */
export function boundariesOf(relaxing: Relaxing, steps: number): number[] {
  if (typeof relaxing === 'number') return []
  if (isLinear(relaxing)) return Array.from({ length: steps }, (_, index) => stepMs(relaxing, index + 1, steps))
  return relaxing.slice(1).map(({ afterMs }) => afterMs)
}

/** The limit after a wait of so many milliseconds. */
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
