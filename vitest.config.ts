import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { SkippedTests } from './test/skipped-tests.js'
import { PATIENCE } from './test/patience.js'

/**
 * Without `module`, which is for bundlers: Node.js may not be able to load those files. Without `import`: the processes
 * of the tests inherit the conditions, and a `require` (as in Express) would find files for `import`.
 */
const conditions = ['@muster/source', 'node']

/** Tests that take longest, since they wait for processes and timers or play many scenes: a run begins with them. */
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
    sequence: { sequencer: LongestFirst },
    ...PATIENCE,
    reporters: [
      'default',
      ...(report === undefined ? [] : [['json', { outputFile: report }] as ['json', object]]),
      new SkippedTests(),
    ],
  },
})
