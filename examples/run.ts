/**
 * Runs every example, which is every `examples/<name>.ts` beside this file, two at a time, as a user would:
 * `node examples/dist/<name>.js`. Fails if one fails. The demo is apart.
 */
import { execFile } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { systemClock } from '@muster/core/clock'

const LONGEST_MS = 60_000

const run = promisify(execFile)
const compiled = new URL('.', import.meta.url)
const names = readdirSync(new URL('..', compiled))
  .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts') && file !== 'run.ts')
  .map((file) => file.replace(/\.ts$/, ''))

/** What went wrong with an example; undefined if it ended well. */
async function failureOf(name: string): Promise<string | undefined> {
  try {
    await run(process.execPath, [fileURLToPath(new URL(`${name}.js`, compiled))], { timeout: LONGEST_MS })
    return undefined
  } catch (error) {
    const { stdout = '', stderr = '', killed = false } = error as { stdout?: string; stderr?: string; killed?: boolean }
    return `${stdout}${stderr}${killed ? `stopped after ${LONGEST_MS / 1000} s\n` : ''}`
  }
}

let failed = names.length === 0 ? 1 : 0
if (failed > 0) console.error('no examples found')
const left = names.values()

/** Runs one example after the other until none is left. */
async function runLeft(): Promise<void> {
  for (const name of left) {
    const start = systemClock.now()
    const failure = await failureOf(name)
    const seconds = ((systemClock.now() - start) / 1000).toFixed(1)
    console.log(`${failure === undefined ? 'ok    ' : 'FAILED'} ${name} (${seconds} s)`)
    if (failure === undefined) continue
    console.error(failure)
    failed += 1
  }
}

// Two at a time: they mostly wait for the emulator's servers.
await Promise.all([runLeft(), runLeft()])
process.exitCode = failed === 0 ? 0 : 1
