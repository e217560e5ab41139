#!/usr/bin/env node
import { readFileSync } from 'node:fs'
import { systemClock } from '@muster/core/clock'
import { readCommandLine, usage } from './cli-options.js'
import { createEmulator } from './emulator.js'
import { parentEnded, parentsNow } from './watch-parents.js'

const signals = ['SIGINT', 'SIGTERM'] as const
/**
 * A second signal within this many milliseconds is a duplicate of the first: the terminal sends one and `npx` forwards
 * another.
 */
const SAME_SIGNAL_MS = 500

async function main(args: readonly string[]): Promise<void> {
  const { help, endWithParent, emulator: options, listen } = readCommandLine(args, (path) => readFileSync(path, 'utf8'))
  if (help) {
    process.stdout.write(usage)
    return
  }
  const parents = parentsNow(endWithParent)
  const emulator = createEmulator(options)
  const { url } = await emulator.listen(listen)
  process.stdout.write(`${url}\n`)
  // The hint goes to stderr, because programs read the URL from stdout.
  if (options.page !== false) process.stderr.write(`To see what runs, open ${url}/_emulator\n`)

  let stoppedAt: number | undefined
  const stop = () => {
    stoppedAt ??= systemClock.now()
    if (systemClock.now() - stoppedAt > SAME_SIGNAL_MS) process.exit(1)
    void emulator.close().then(() => process.exit(0))
  }
  for (const signal of signals) process.on(signal, stop)
  void parentEnded(parents, systemClock).then(stop)
}

try {
  await main(process.argv.slice(2))
} catch (error) {
  process.stderr.write(`muster-emulator: ${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
}
