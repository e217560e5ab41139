import { defineConfig } from 'vitest/config'

// Apart from the other tests, as it needs the packages to be built: `pnpm packages`.
export default defineConfig({
  test: { include: ['test/packaging/*.test.ts'], testTimeout: 120_000, hookTimeout: 120_000 },
})
