import { defineConfig } from 'vitest/config'
import { SkippedTests } from './test/skipped-tests.js'

/**
 * Without `module`, which is for bundlers: Node.js may not be able to load those files. Without `import`: the processes
 * of the tests inherit the conditions, and a `require` (as in Express) would find files for `import`.
 */
const conditions = ['@muster/source', 'node']

/** Where to write the results as JSON as well; .ci/run counts them. */
const report = process.env['VITEST_JSON_REPORT']

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: ['node'] } },
  test: {
    include: [
      'packages/*/src/**/*.test.ts',
      'tools/*/src/**/*.test.ts',
      'test/**/*.test.ts',
      'bench/**/*.test.ts',
      'examples/**/*.test.ts',
    ],
    setupFiles: ['test/properties.setup.ts', 'test/warnings.setup.ts'],
    globalSetup: ['test/redis.setup.ts', 'test/built.setup.ts', 'test/browser.setup.ts'],
    exclude: [
      '**/dist/**',
      '**/node_modules/**',
      ...['browser', 'chaos', 'engines', 'packaging', 'screenshots'].map((name) => `test/${name}/**`),
    ],
    typecheck: {
      enabled: true,
      include: ['packages/*/src/**/*.test-d.ts', 'test/**/*.test-d.ts'],
      // These files and what they import: a sixth of the time of all files.
      tsconfig: 'tsconfig.types.json',
      // Errors elsewhere are for `pnpm typecheck` to report.
      ignoreSourceErrors: true,
    },
    // Nothing here patches globals or keeps state in modules, so files may share a process: half the time.
    pool: 'forks',
    // Two more than the cores of a small machine: many tests wait for processes and timers.
    maxWorkers: 4,
    isolate: false,
    // Only what hangs is meant: a busy machine takes several times as long as an idle one.
    testTimeout: 90_000,
    hookTimeout: 90_000,
    expect: { poll: { timeout: 30_000 } },
    reporters: [
      'default',
      ...(report === undefined ? [] : [['json', { outputFile: report }] as ['json', object]]),
      new SkippedTests(),
    ],
  },
})
