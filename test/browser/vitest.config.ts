import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { PATIENCE } from '../patience.js'

const conditions = ['@muster/source', 'node']
const beside = (path: string) => fileURLToPath(new URL(path, import.meta.url))

/** `pnpm browser`: tests of pages in Chromium. They are separate from the other tests because they take minutes. */
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
    // Test files share the modules that they import.
    isolate: false,
  },
})
