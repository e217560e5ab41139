import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { PATIENCE } from '../patience.js'

const conditions = ['@muster/source', 'node']
const beside = (path: string) => fileURLToPath(new URL(path, import.meta.url))

/** Part of `pnpm engines`: C++ and C# connect to a running Muster. */
export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: ['node'] } },
  test: {
    include: ['test/engines/**/*.test.ts'],
    setupFiles: [beside('../properties.setup.ts')],
    globalSetup: [beside('../built.setup.ts')],
    ...PATIENCE,
    pool: 'forks',
    maxWorkers: 2,
  },
})
