import { defineConfig } from 'vitest/config'
import { PATIENCE } from '../patience.js'

/**
 * Tests whose processes are killed, stopped and cut off in real time, apart from the others: `pnpm chaos`, or
 * `CHAOS_SEED=7 pnpm chaos` for other faults. Their timing also depends on the machine. Needs Linux.
 */
export default defineConfig({
  test: {
    include: ['test/chaos/*.test.ts'],
    ...PATIENCE,
    // Files mostly wait for their processes: two at once take three minutes in place of five.
    maxWorkers: 2,
    // Node.js loads the built packages itself, without the cost of a transform for each file.
    server: { deps: { external: [/packages\/[^/]*\/dist\//] } },
    reporters: ['verbose'],
  },
})
