import { expect, test } from 'vitest'
import { runSchedule } from './schedule.js'

/** `SOAK_SEED=7 SOAK_COUNT=100000` (see soak.mjs) runs other seeds than usual, and more of them. */
const first = Number(process.env['SOAK_SEED'] ?? 1)
const count = Number(process.env['SOAK_COUNT'] ?? 100)

const failed = (error: unknown) => ({ broken: [String(error)], assigned: 0, deaths: 0, deployments: 0, reaped: 0 })

test(
  `${count} bad days from seed ${first}: one server per match at most, none forgotten, none taken from its players`,
  {
    timeout: count * 500 + 60_000,
  },
  async () => {
    const sum = { assigned: 0, deaths: 0, deployments: 0, reaped: 0 }
    for (let seed = first; seed < first + count; seed++) {
      const { broken, ...counts } = await runSchedule(seed).catch(failed)
      expect(broken, `seed ${seed}: SOAK_SEED=${seed} SOAK_COUNT=1`).toEqual([])
      for (const key of Object.keys(sum) as (keyof typeof sum)[]) sum[key] += counts[key]
    }
    // The schedules must have had matches, or they prove nothing.
    expect(sum.assigned).toBeGreaterThan(count)
    expect(sum.deployments).toBeGreaterThan(count)
    expect(sum.deaths).toBeGreaterThan(count / 4)
    expect(sum.reaped).toBeGreaterThan(count / 100)
  },
)
