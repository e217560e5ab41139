import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { PATIENCE } from '../../test/patience.js'

/** `pnpm site:check`: builds the site and checks it, apart from the other tests. */
export default defineConfig({
  root: fileURLToPath(new URL('..', import.meta.url)),
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/build.setup.ts', '../test/browser/chromium.setup.ts'],
    ...PATIENCE,
    pool: 'forks',
    // The files share what was read of the site.
    maxWorkers: 1,
    isolate: false,
  },
})
