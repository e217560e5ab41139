/** `pnpm soak [count] [seed]`: more bad days than every day's tests have. A failure names the seed that brings it back. */
import { spawn } from 'node:child_process'

const [count = '20000', seed = String(Date.now() % 1e9)] = process.argv.slice(2)
const vitest = ['vitest', 'run', 'test/matchmaker/schedules', '--typecheck.enabled=false']
const env = { ...process.env, SOAK_COUNT: count, SOAK_SEED: seed }
spawn('npx', vitest, { stdio: 'inherit', env }).on('close', (code) => process.exit(code ?? 1))
