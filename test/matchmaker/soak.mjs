/**
 * `pnpm soak [count] [seed]`: runs more fault schedules than the usual tests, on virtual time. Default: 2,000. `pnpm
 * soak servers [rounds] [seed]`: repeats the crash tests of `pnpm chaos` in real time. `pnpm soak redis [--minutes N]
 * [--seed S]`: runs the processes of a partition in Redis. Default: ten minutes. `pnpm soak all [--minutes N] [--seed
 * S]`: repeats all of `pnpm chaos`. Default: twenty minutes. A failure prints its seed. In real time, the seed repeats
 * the faults and their order, but not their exact times.
 */
import { spawnSync } from 'node:child_process'
import { parseArgs } from 'node:util'

const anySeed = String(Date.now() % 1e9)
const ROUND_MINUTES = 2

/** Runs a command repeatedly until it fails. */
function run(command, env = {}) {
  const { status } = spawnSync('npx', command, { stdio: 'inherit', env: { ...process.env, ...env } })
  if (status !== 0) process.exit(status ?? 1)
}

const [first = '2000', ...others] = process.argv.slice(2)

/** Parses the options `--minutes` and `--seed`. */
function timed(usual) {
  const text = { type: 'string' }
  const { minutes = usual, seed = anySeed } = parseArgs({ args: others, options: { minutes: text, seed: text } }).values
  return { minutes: Number(minutes), seed: Number(seed) }
}

if (first === 'servers') {
  const [rounds = '100', seed = anySeed] = others
  run(['tsc', '-b'])
  for (let round = 0; round < Number(rounds); round += 1) {
    const env = { CHAOS_SEED: String(Number(seed) + round) }
    run(['vitest', 'run', '--config', 'test/chaos/vitest.config.ts', 'test/chaos/crashes.test.ts'], env)
  }
} else if (first === 'redis') {
  const { minutes, seed } = timed('10')
  run(['tsc', '-b'])
  for (let round = 0; round < Math.ceil(minutes / ROUND_MINUTES); round += 1) {
    const lasts = { CHAOS_SECONDS: String(ROUND_MINUTES * 60), CHAOS_ENDS: '10' }
    const files = ['test/chaos/partition.test.ts', 'test/chaos/takeovers.test.ts']
    const env = { CHAOS_SEED: String(seed + round), ...lasts }
    run(['vitest', 'run', '--config', 'test/chaos/vitest.config.ts', ...files], env)
  }
} else if (first === 'all') {
  const { minutes, seed } = timed('20')
  run(['tsc', '-b'])
  const end = Date.now() + minutes * 60_000
  for (let round = 0; round === 0 || Date.now() < end; round += 1)
    run(['vitest', 'run', '--config', 'test/chaos/vitest.config.ts'], { CHAOS_SEED: String(seed + round) })
} else {
  const [seed = anySeed] = others
  run(['vitest', 'run', 'packages/matchmaker/src/fault-schedules', '--typecheck.enabled=false'], {
    SOAK_COUNT: first,
    SOAK_SEED: seed,
  })
}
