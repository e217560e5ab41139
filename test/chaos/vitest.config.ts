import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { PATIENCE } from '../patience.js'

/**
 * `pnpm chaos`: tests whose processes are killed, suspended and disconnected in real time. `CHAOS_SEED=7 pnpm chaos`
 * draws other faults. Timing also depends on the machine. Needs Linux.
 */
export default defineConfig({
  test: {
    include: ['test/chaos/*.test.ts'],
    globalSetup: [fileURLToPath(new URL('bundled.setup.ts', import.meta.url))],
    ...PATIENCE,
    // Test files mostly wait for their processes. Two at a time take three minutes instead of five.
    maxWorkers: 2,
    // Node.js loads the built packages itself, so that they are not transformed again for each file.
    server: { deps: { external: [/packages\/[^/]*\/dist\//] } },
    reporters: ['verbose'],
  },
})
