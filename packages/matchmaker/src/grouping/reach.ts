// pure: how far a ticket reaches after how long a wait

/** After `afterMs` milliseconds of waiting a ticket takes others at up to `km` kilometres, or wherever they are. */
export interface DistanceStep {
  /** Milliseconds since the ticket was created; 0 in the first step. */
  readonly afterMs: number
  /** Kilometres along the surface, or 'any' for no limit, not even on tickets of unknown place. */
  readonly km: number | 'any'
}

/** Without a rule, anyone goes with anyone. */
export const ANYWHERE: readonly DistanceStep[] = [{ afterMs: 0, km: 'any' }]

/** The index of the step in force after a wait of so many milliseconds. */
export function levelAt(steps: readonly DistanceStep[], waitedMs: number): number {
  let level = 0
  while (level + 1 < steps.length && waitedMs >= (steps[level + 1] as DistanceStep).afterMs) level += 1
  return level
}

const EARTH_RADIUS_KM = 6371

/** The straight line, through an earth of radius 1, between places so far apart along its surface. */
export const chordOf = (km: number): number => 2 * Math.sin(Math.min(km / EARTH_RADIUS_KM, Math.PI) / 2)

/** What a square of such a line may be at most under this step. */
export const chordLimit = ({ km }: DistanceStep): number => (km === 'any' ? Infinity : chordOf(km) ** 2)

/** A radius to search, and the level from which a ticket reaches that far. */
export interface Rung {
  readonly km: number
  readonly level: number
}

/** Below this, places come from databases that are not as exact. */
const FINEST_KM = 5
/** From one radius to the next, in a crowd, the number of tickets in it grows some sixteen-fold. */
const RATIO = 4
/** Where there is no limit: the near are looked for within this, and then anyone is taken. */
const WIDEST_KM = 2000

/**
 * The radii in which to look for others, small ones first, so that the nearest are found first and a
 * crowd is not searched as a whole.
 */
export function searchRadii(steps: readonly DistanceStep[]): Rung[] {
  const rungs: Rung[] = []
  let covered = 0
  for (const [level, { km }] of steps.entries()) {
    const top = km === 'any' ? WIDEST_KM : km
    const added: Rung[] = []
    for (let radius = top; radius > covered && (radius === top || radius >= FINEST_KM); radius /= RATIO) {
      added.unshift({ km: radius, level })
    }
    rungs.push(...added)
    covered = Math.max(covered, top)
  }
  return rungs
}
