import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { PATIENCE } from '../patience.js'

const conditions = ['@muster/source', 'node']

/** `pnpm screenshots`: takes the pictures of docs/console. Their scenes are the same each time. */
export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: ['node'] } },
  test: {
    include: ['test/screenshots/**/*.test.ts'],
    globalSetup: [fileURLToPath(new URL('../built.setup.ts', import.meta.url))],
    ...PATIENCE,
  },
})
