#!/usr/bin/env node
import { readFileSync } from 'node:fs'
import { readCommandLine, usage } from './cli-options.js'
import { createEmulator } from './emulator.js'

async function main(args: readonly string[]): Promise<void> {
  const { help, emulator: options, listen } = readCommandLine(args, (path) => readFileSync(path, 'utf8'))
  if (help) {
    process.stdout.write(usage)
    return
  }
  const emulator = createEmulator(options)
  const { url } = await emulator.listen(listen)
  process.stdout.write(`${url}\n`)

  const stop = () => {
    // A second signal ends the process at once, as if nobody listened.
    for (const signal of signals) process.off(signal, stop)
    void emulator.close()
  }
  for (const signal of signals) process.on(signal, stop)
}

const signals = ['SIGINT', 'SIGTERM'] as const

try {
  await main(process.argv.slice(2))
} catch (error) {
  process.stderr.write(`muster-emulator: ${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
}
