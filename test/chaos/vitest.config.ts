import { defineConfig } from 'vitest/config'

/**
 * Tests whose processes are killed, stopped and cut off in real time, apart from the others: `pnpm chaos`, or
 * `CHAOS_SEED=7 pnpm chaos` for other faults. Their timing also depends on the machine. Needs Linux.
 */
export default defineConfig({
  test: {
    include: ['test/chaos/*.test.ts'],
    testTimeout: 120_000,
    hookTimeout: 60_000,
    // Files mostly wait for their processes: two at once take three minutes in place of five.
    maxWorkers: 2,
    reporters: ['verbose'],
  },
})
