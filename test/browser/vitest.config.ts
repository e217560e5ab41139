import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { PATIENCE } from '../patience.js'

const conditions = ['@muster/source', 'node']
const beside = (path: string) => fileURLToPath(new URL(path, import.meta.url))

/** `pnpm browser`: the pages in Chromium, apart from the other tests, for they take minutes of their own. */
export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: ['node'] } },
  test: {
    include: ['test/browser/**/*.test.ts'],
    setupFiles: [beside('../properties.setup.ts')],
    globalSetup: [beside('../built.setup.ts'), beside('chromium.setup.ts')],
    ...PATIENCE,
    pool: 'forks',
    maxWorkers: 2,
    // The files share the modules that they import.
    isolate: false,
  },
})
