/**
 * `pnpm soak [count] [seed]`: more schedules of faults than the usual tests, on virtual time. `pnpm soak servers
 * [rounds] [seed]`: the crashes of `pnpm chaos`, in processes and real time, round after round. `pnpm soak redis
 * [--minutes N] [--seed S]`: the processes of a partition in Redis, ten minutes by default, in rounds of two. A failure
 * names the seed that repeats it.
 */
import { spawnSync } from 'node:child_process'
import { parseArgs } from 'node:util'

const anySeed = String(Date.now() % 1e9)
const ROUND_MINUTES = 2

/** Runs until it fails. */
function run(command, env = {}) {
  const { status } = spawnSync('npx', command, { stdio: 'inherit', env: { ...process.env, ...env } })
  if (status !== 0) process.exit(status ?? 1)
}

const [first = '20000', ...others] = process.argv.slice(2)
if (first === 'servers') {
  const [rounds = '100', seed = anySeed] = others
  run(['tsc', '-b'])
  for (let round = 0; round < Number(rounds); round += 1) {
    const env = { CHAOS_SEED: String(Number(seed) + round) }
    run(['vitest', 'run', '--config', 'test/chaos/vitest.config.ts', 'test/chaos/crashes.test.ts'], env)
  }
} else if (first === 'redis') {
  const number = { type: 'string' }
  const { values } = parseArgs({ args: others, options: { minutes: number, seed: number } })
  const { minutes = '10', seed = anySeed } = values
  run(['tsc', '-b'])
  for (let round = 0; round < Math.ceil(Number(minutes) / ROUND_MINUTES); round += 1) {
    const lasts = { CHAOS_SECONDS: String(ROUND_MINUTES * 60), CHAOS_ENDS: '10' }
    const files = ['test/chaos/partition.test.ts', 'test/chaos/takeovers.test.ts']
    const env = { CHAOS_SEED: String(Number(seed) + round), ...lasts }
    run(['vitest', 'run', '--config', 'test/chaos/vitest.config.ts', ...files], env)
  }
} else {
  const [seed = anySeed] = others
  run(['vitest', 'run', 'test/matchmaker/schedules', '--typecheck.enabled=false'], {
    SOAK_COUNT: first,
    SOAK_SEED: seed,
  })
}
