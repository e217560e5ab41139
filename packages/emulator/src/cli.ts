#!/usr/bin/env node
import { readFileSync } from 'node:fs'
import { systemClock } from '@muster/core/clock'
import { messageOf, parentsNow, terminationRequested } from '@muster/core/internal'
import { readCommandLine, usage } from './cli-options.js'
import { createEmulator } from './emulator.js'

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
  // The hint is written to the standard error, because programs read the URL from the standard output.
  if (options.page !== false) process.stderr.write(`To see what runs, open ${url}/_emulator\n`)

  await terminationRequested(parents, systemClock)
  await emulator.close()
  process.exit(0)
}

try {
  await main(process.argv.slice(2))
} catch (error) {
  process.stderr.write(`muster-emulator: ${messageOf(error)}\n`)
  process.exitCode = 1
}
