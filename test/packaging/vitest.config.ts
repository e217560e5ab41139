import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { PATIENCE } from '../patience.js'

// `pnpm packages`: separate from the other tests, because it publishes a release of all packages to a local registry.
export default defineConfig({
  test: {
    include: ['test/packaging/*.test.ts'],
    globalSetup: [fileURLToPath(new URL('released.setup.ts', import.meta.url))],
    ...PATIENCE,
    // Some hooks run npm install, whose duration depends on the registry.
    hookTimeout: 400_000,
    maxWorkers: 2,
    // Node.js itself loads the unpacked packages, as it does for users.
    server: { deps: { external: [/\/muster-packages-\w+\//] } },
  },
})
