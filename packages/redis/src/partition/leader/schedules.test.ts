/**
 * Runs the allocator over a partition in Redis. Leaders end, or are deposed and continue, and followers cancel tickets.
 */
import { runSchedules } from '@muster/hosting/schedules-fixture'
import { expect, test } from 'vitest'
import { drawPartition } from './partition-storage.fixture.js'

/** `SOAK_SEED=7 SOAK_COUNT=1000` runs other seeds than usual, and more of them, as `pnpm fuzz` does. */
const first = Number(process.env['SOAK_SEED'] ?? 1)
const count = Number(process.env['SOAK_COUNT'] ?? 500)

test(
  `${count} fault schedules over Redis from seed ${first} break no promise to players or game servers`,
  { timeout: count * 1000 + 60_000 },
  async () => {
    const { broken, counts } = await runSchedules({ first, count, openStorage: drawPartition })
    expect(broken).toEqual([])
    // Many must have had matches, or they prove nothing. A single one, run again, need not.
    if (count === 1) return
    expect(counts.told).toBeGreaterThan(count * 2)
    expect(counts.deaths).toBeGreaterThan(count)
    expect(counts.deposed).toBeGreaterThan(count / 4)
  },
)
