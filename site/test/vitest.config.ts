import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { PATIENCE } from '../../test/patience.js'

/** `pnpm site:check`: builds and checks the site, separately from the other tests. */
export default defineConfig({
  root: fileURLToPath(new URL('..', import.meta.url)),
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/build.setup.ts', '../test/browser/chromium.setup.ts'],
    ...PATIENCE,
    pool: 'forks',
    // The test files share the parsed pages.
    maxWorkers: 1,
    isolate: false,
  },
})
