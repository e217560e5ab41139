import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

// Apart from the other tests, because it packs the packages as they would be published: `pnpm packages`.
export default defineConfig({
  test: {
    include: ['test/packaging/*.test.ts'],
    globalSetup: [fileURLToPath(new URL('pack-all.ts', import.meta.url))],
    testTimeout: 120_000,
    // npm installs in some of them, which takes as long as the registry does.
    hookTimeout: 400_000,
    maxWorkers: 2,
  },
})
