import { defineConfig } from 'vitest/config'

/**
 * Apart from the other tests: processes of their own, which are killed, stopped and cut off in real time. `pnpm chaos`, or
 * `CHAOS_SEED=7 pnpm chaos` for other misfortunes; what happens when is up to the machine all the same. Needs Linux.
 */
export default defineConfig({
  test: {
    include: ['test/chaos/*.test.ts'],
    testTimeout: 120_000,
    hookTimeout: 60_000,
    // What is measured here is time, on machines with two cores: one storm after another.
    fileParallelism: false,
    reporters: ['verbose'],
  },
})
