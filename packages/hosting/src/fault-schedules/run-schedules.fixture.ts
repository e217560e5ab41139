import type { Mutant } from './muster.fixture.js'
import { type Outcome, runSchedule } from './schedule.fixture.js'
import type { OpenStorageOf } from './storage.fixture.js'

interface Schedules {
  readonly first: number
  readonly count: number
  readonly openStorage: OpenStorageOf
  readonly mutant?: Mutant | undefined
}

const NOTHING: Outcome['counts'] = { told: 0, matches: 0, deaths: 0, deposed: 0, acknowledged: 0, suspended: 0 }

/** Runs schedules, and stops at the first that breaks a promise. Returns its outcome, or the sums of all counts. */
export async function runSchedules({ first, count, openStorage, mutant }: Schedules): Promise<Outcome> {
  const sum: Record<keyof Outcome['counts'], number> = { ...NOTHING }
  for (let seed = first; seed < first + count; seed += 1) {
    const { broken, counts } = await runSchedule(seed, openStorage, mutant).catch((error: unknown) => ({
      broken: [error instanceof Error ? String(error.stack) : String(error)],
      counts: NOTHING,
    }))
    if (broken.length > 0) return { broken: [`seed ${seed}: SOAK_SEED=${seed} SOAK_COUNT=1`, ...broken], counts }
    for (const key of Object.keys(sum) as (keyof typeof sum)[]) sum[key] += counts[key]
  }
  return { broken: [], counts: sum }
}
