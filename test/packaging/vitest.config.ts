import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { PATIENCE } from '../patience.js'

// Apart from the other tests, because it makes a release of the packages, to a registry of its own: `pnpm packages`.
export default defineConfig({
  test: {
    include: ['test/packaging/*.test.ts'],
    globalSetup: [fileURLToPath(new URL('released.setup.ts', import.meta.url))],
    ...PATIENCE,
    // npm installs in some of them, which takes as long as the registry does.
    hookTimeout: 400_000,
    maxWorkers: 2,
  },
})
