/**
 * Runs every example, i.e. every `examples/<name>.ts` beside this file, as a user would: `node
 * examples/dist/<name>.js`. Two run at a time. Fails if one of them fails. The demo is not included. With `--as
 * observed`, the examples and a small demo run on an emulator that behaves like the observed public deployment.
 */
import { execFile } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseArgs, promisify } from 'node:util'
import { systemClock } from '@muster/core/clock'

const LONGEST_MS = 60_000
/** Examples that `--as observed` omits, because they only create and stop servers, as others do too. */
const SAME_EITHER_WAY: ReadonlySet<string> = new Set(['game-server', 'ratings'])

const run = promisify(execFile)
const compiled = new URL('.', import.meta.url)
const { as } = parseArgs({ options: { as: { type: 'string', default: 'specification' } } }).values
const examples = readdirSync(new URL('..', compiled))
  .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts') && file !== 'run.ts')
  .map((file) => file.replace(/\.ts$/, ''))
/** The arguments of Node.js for each program, by its name. */
const observed = ['--import', new URL('../../test/world/as-observed.mjs', compiled).href]
const programs: readonly (readonly [name: string, args: readonly string[]])[] =
  as === 'observed'
    ? [
        ...examples
          .filter((name) => !SAME_EITHER_WAY.has(name))
          .map((name) => [name, [...observed, pathOf(name)]] as const),
        ['demo', [...observed, pathOf('demo/main'), '--players', '200']],
      ]
    : examples.map((name) => [name, [pathOf(name)]] as const)
function pathOf(name: string) {
  return fileURLToPath(new URL(`${name}.js`, compiled))
}

/** Runs an example. Returns its error; undefined if it succeeded. */
async function failureOf(args: readonly string[]): Promise<string | undefined> {
  try {
    await run(process.execPath, args, { timeout: LONGEST_MS })
    return undefined
  } catch (error) {
    const { stdout = '', stderr = '', killed = false } = error as { stdout?: string; stderr?: string; killed?: boolean }
    return `${stdout}${stderr}${killed ? `stopped after ${LONGEST_MS / 1000} s\n` : ''}`
  }
}

let failed = examples.length === 0 ? 1 : 0
if (failed > 0) console.error('no examples found')
const left = programs.values()

/** Runs examples one after another until none is left. */
async function runLeft(): Promise<void> {
  for (const [name, args] of left) {
    const start = systemClock.now()
    const failure = await failureOf(args)
    const seconds = ((systemClock.now() - start) / 1000).toFixed(1)
    console.log(`${failure === undefined ? 'ok    ' : 'FAILED'} ${name} (${seconds} s)`)
    if (failure === undefined) continue
    console.error(failure)
    failed += 1
  }
}

// Two at a time, because examples mostly wait for the emulator's servers.
await Promise.all([runLeft(), runLeft()])
process.exitCode = failed === 0 ? 0 : 1
