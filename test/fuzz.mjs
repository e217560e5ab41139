/**
 * `pnpm fuzz [rounds] [seed]`: runs all property tests with new random cases, round after round, until one fails.
 * `MUSTER_SEED=<seed> pnpm test` repeats a failure. Each round also runs 1,000 fault schedules of servers over a file
 * and 1,000 over Redis. A failed schedule prints the variables that repeat it.
 */
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const [rounds = '10', first = String(Date.now() % 1e9)] = process.argv.slice(2)
/** Number of schedules per round and store. */
const SCHEDULES = 1000
const root = fileURLToPath(new URL('..', import.meta.url))
const properties = ['packages', 'test']
  .flatMap((folder) => readdirSync(`${root}${folder}`, { recursive: true }).map((file) => `${folder}/${file}`))
  .filter((file) => file.endsWith('.test.ts') && !/node_modules|dist/.test(file))
  .filter((file) => /'fast-check'|SOAK_COUNT/.test(readFileSync(`${root}${file}`, 'utf8')))
  .filter((file) => !file.includes('matchmaker/src/fault-schedules/'))

for (let round = 0; round < Number(rounds); round += 1) {
  const seed = String(Number(first) + round)
  process.stdout.write(`seed ${seed}, ${properties.length} files\n`)
  const schedules = { SOAK_SEED: String(Number(seed) * SCHEDULES), SOAK_COUNT: String(SCHEDULES) }
  const env = { ...process.env, MUSTER_SEED: seed, ...schedules }
  const vitest = ['vitest', 'run', '--typecheck.enabled=false', '--testTimeout=300000', ...properties]
  const { status } = spawnSync('npx', vitest, { stdio: 'inherit', cwd: root, env })
  if (status !== 0) {
    process.stderr.write(`failed with MUSTER_SEED=${seed}\n`)
    process.exit(1)
  }
}
