import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { SkippedTests } from './test/skipped-tests.js'
import { PATIENCE } from './test/patience.js'

/**
 * Conditions for `exports`. `module` is left out, because it is for bundlers and Node.js may not be able to load such
 * files. `import` is left out, because processes of tests inherit the conditions, and a `require`, as in Express, would
 * find files for `import`.
 */
const conditions = ['@muster/source', 'node']

/** The slowest tests, which wait for processes and timers or play many scenes. A run begins with them. */
const LONGEST = [
  'redis/src/partition/cut-off',
  'test/matchmaker/restarts',
  'redis/src/partition/commands',
  'redis/src/partition/game-servers.simulation',
  'lab/src/run/run-crowd.pools',
  'matchmaker/src/fault-schedules/',
  'server/src/cli/serve',
  'server/src/cli/lab/run',
  'server/src/cli/verify/bot',
  'server/src/dev/start-dev',
  'test/matchmaker/faults.killed',
  'matchmaker/src/matches/rationing',
  'hosting/src/fault-schedules/',
  'redis/src/partition/leader/schedules',
  'test/api-reports',
  'test/configuration/choosing-rules',
  'server/src/telemetry/alerts',
  'queues/rules/rare-fits',
  'hosting/src/pools/pools.load',
]

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line no-array-sort -- it is not an array
    const sorted = await super.sort(files)
    const isLong = ({ moduleId }: TestSpecification) => LONGEST.some((name) => moduleId.includes(name))
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))]
  }
}

/** File to which the results are also written as JSON. .ci/run counts them. */
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
      // Only these files and their imports are type-checked, in a sixth of the time of all files.
      tsconfig: 'tsconfig.types.json',
      // `pnpm typecheck` reports errors in other files.
      ignoreSourceErrors: true,
    },
    // No test patches globals or keeps state in modules, so test files share a process. That takes half of the time.
    pool: 'forks',
    // Two more than the cores of a small machine, because many tests wait for processes and timers.
    maxWorkers: 4,
    isolate: false,
    sequence: { sequencer: LongestFirst },
    ...PATIENCE,
    reporters: [
      'default',
      ...(report === undefined ? [] : [['json', { outputFile: report }] as ['json', object]]),
      new SkippedTests(),
    ],
  },
})
