import { expect, test } from 'vitest'
import { drawDisk } from './disk.fixture.js'
import { runSchedules } from './run-schedules.fixture.js'

/** `SOAK_SEED=7 SOAK_COUNT=1000` runs another seed and number of schedules, like `pnpm fuzz`. */
const first = Number(process.env['SOAK_SEED'] ?? 1)
const count = Number(process.env['SOAK_COUNT'] ?? 1500)

test(
  `${count} fault schedules on a file store from seed ${first} break no promise to players or game servers`,
  { timeout: count * 1000 + 60_000 },
  async () => {
    const { broken, counts } = await runSchedules({ first, count, openStorage: drawDisk })
    expect(broken).toEqual([])
    // If there are many schedules, most must have had matches, or they prove nothing. A single repeated schedule need
    // not.
    if (count === 1) return
    expect(counts.told).toBeGreaterThan(count * 2)
    expect(counts.deaths).toBeGreaterThan(count)
    expect(counts.suspended).toBeGreaterThan(count / 10)
    expect(counts.acknowledged).toBeGreaterThan(count / 2)
  },
)
