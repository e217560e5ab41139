import { resolve } from 'node:path'
import { InvalidArgumentError, type Command } from 'commander'
import type { Terminal } from './terminal.js'

interface DevArguments {
  readonly config?: string
  readonly token?: string
  readonly port: number
  readonly emulatorPort: number
}

/** `muster dev`. What it does is loaded when it is asked for. */
export const addDev = (program: Command, terminal: Terminal): Command =>
  program
    .command('dev')
    .description('emulator, server and console on this machine, with nothing to configure')
    .option('-c, --config <file>', 'take the queues of this configuration')
    .option('--token <token>', 'the token for everything; default: a random one')
    .option('-p, --port <port>', 'the port of the API and the console, or else a free one', portOf, 8080)
    .option('--emulator-port <port>', 'the port of the emulator, or else a free one', portOf, 8090)
    .action(async ({ config, ...options }: DevArguments) => {
      const { dev } = await import('./run-dev.js')
      const path = config && resolve(terminal.folder, config)
      process.exit(await dev({ ...options, config: path }, terminal))
    })

function portOf(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text)
  throw new InvalidArgumentError('must be a port from 0 to 65535')
}
