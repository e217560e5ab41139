import { expect, test } from 'vitest'
import { runServerSchedule } from './schedule.fixture.js'

/** `SOAK_SEED=7 SOAK_COUNT=2000` (see soak.mjs) runs other seeds than usual, and more of them. */
const first = Number(process.env['SOAK_SEED'] ?? 1)
const count = Number(process.env['SOAK_COUNT'] ?? 15)

const failed = (error: unknown) => ({
  broken: [error instanceof Error ? String(error.stack) : String(error)],
  assigned: 0,
  deaths: 0,
  deployments: 0,
  served: 0,
})

test(
  `${count} fault schedules from seed ${first}: no player is in two places or lost, and no match is ended by Muster`,
  { timeout: count * 5000 + 60_000 },
  async () => {
    const sum = { assigned: 0, deaths: 0, deployments: 0, served: 0 }
    for (let seed = first; seed < first + count; seed += 1) {
      const { broken, ...counts } = await runServerSchedule(seed).catch(failed)
      expect(broken, `seed ${seed}: SOAK_SEED=${seed} SOAK_COUNT=1`).toEqual([])
      for (const key of Object.keys(sum) as (keyof typeof sum)[]) sum[key] += counts[key]
    }
    // The schedules must have had matches, or they prove nothing.
    expect(sum.assigned).toBeGreaterThan(count * 4)
    expect(sum.served).toBeGreaterThan(count * 2)
    expect(sum.deaths).toBeGreaterThan(count / 2)
  },
)
