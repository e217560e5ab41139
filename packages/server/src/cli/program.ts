import { resolve } from 'node:path'
import { InvalidInput } from '@muster/core'
import { messageOf } from '@muster/core/internal'
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander'
import { version } from '../version.js'
import { addCheck } from './check.js'
import { addImport } from './import/import-command.js'
import { addInit, addSchema } from './init.js'
import { addLab } from './lab/lab.js'
import { assertProgram } from './start-command.js'
import { addVerify } from './verify/verify-server.js'
import { EXIT, type ExitCode, paint, type Terminal } from './terminal.js'

interface DevArguments {
  readonly config?: string
  readonly token?: string
  readonly as: 'specification' | 'observed'
  readonly port: number
  readonly emulatorPort: number
}

/** Separates the program's options from the command to run and its own options. */
const COMMAND = ['[command...]', 'runs as a process for each game server, after --: node server.js'] as const

/** Adds `muster dev`. Its implementation is imported when the command runs. */
const addDev = (program: Command, terminal: Terminal): Command =>
  program
    .command('dev')
    .description('emulator, server and console on this machine, with nothing to configure')
    .argument(...COMMAND)
    .option('-c, --config <file>', 'use the queues of this configuration')
    .option('--token <token>', 'the token for everything; default: a random one', tokenOf)
    .addOption(
      new Option('--as <service>', 'service to emulate: as specified, or as a public deployment was observed')
        .choices(['specification', 'observed'])
        .default('specification'),
    )
    .option('-p, --port <port>', 'port of the API and the console; a free one if it is taken', portOf, 8080)
    .option('--emulator-port <port>', 'port of the emulator; a free one if it is taken', portOf, 8090)
    .action(async (words: readonly string[], { config, ...options }: DevArguments) => {
      await assertProgram(words, terminal)
      const { dev } = await import('./run-dev.js')
      const path = config && resolve(terminal.folder, config)
      const command = words.length === 0 ? undefined : { command: words, folder: terminal.folder }
      process.exit(await dev({ ...options, config: path, command }, terminal))
    })

function portOf(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text)
  throw new InvalidArgumentError('must be a port from 0 to 65535')
}

/** Returns a token that can be sent as a bearer token, with a player's id after a colon. */
function tokenOf(text: string): string {
  if (/^[\w.~+/-]+=*$/.test(text)) return text
  throw new InvalidArgumentError('must be letters, digits and any of - . _ ~ + /')
}

/** Adds `muster serve`. Its implementation is imported when the command runs. */
const addServe = (program: Command, terminal: Terminal): Command =>
  program
    .command('serve')
    .description('run the server; the configuration is read again when it changes, and on SIGHUP')
    .option('-c, --config <file>', 'the configuration', 'muster.yaml')
    .action(async ({ config }: { readonly config: string }) => {
      const { serve } = await import('./run-serve.js')
      // Exits explicitly, because work that could not be ended in time would keep the process alive.
      process.exit(await serve(resolve(terminal.folder, config), terminal))
    })

/** Adds `muster migrate`. Its implementation is imported when the command runs. */
const addMigrate = (program: Command, terminal: Terminal, end: (code: ExitCode) => void): Command =>
  program
    .command('migrate')
    .description('show the versions of the configuration and the store, and upgrade files to the latest')
    .option('-c, --config <file>', 'the configuration', 'muster.yaml')
    .option('--dry-run', 'only show what would be done; nothing is changed')
    .action(async (options: { readonly config: string; readonly dryRun?: boolean }) => {
      const { migrate } = await import('./run-migrate.js')
      end(await migrate(options, terminal))
    })

/** Runs the command line, and resolves with the exit code. @param args the arguments without the program's name. */
export async function runProgram(args: readonly string[], terminal: Terminal): Promise<ExitCode> {
  let code: ExitCode = EXIT.ok
  const end = (with_: ExitCode) => {
    code = with_
  }
  const program = new Command('muster')
    .description('Matchmaking that deploys a game server for every match')
    .version(version)
  addDev(program, terminal)
  addInit(program, terminal, end)
  addCheck(program, terminal, end)
  addImport(program, terminal, end)
  addServe(program, terminal)
  addMigrate(program, terminal, end)
  addVerify(program, terminal, end)
  addLab(program, terminal, end)
  addSchema(program, terminal)
  const commands = program.commands.flatMap((one) => [one, ...one.commands])
  for (const command of [program, ...commands]) hearing(command, terminal)
  try {
    await program.parseAsync(args, { from: 'user' })
    return code
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.wrong
    terminal.complain(`${paint(terminal.colours.complain).red('error')}: ${messageOf(error)}`)
    return error instanceof InvalidInput ? EXIT.wrong : EXIT.failed
  }
}

/** Makes a command write to the terminal, and throw instead of ending the process. */
const hearing = (command: Command, terminal: Terminal): Command =>
  command
    .exitOverride()
    .showHelpAfterError(`${nameOf(command)} --help lists all ${command.commands.length > 0 ? 'commands' : 'options'}`)
    .configureOutput({
      writeOut: (text) => terminal.say(text.trimEnd()),
      writeErr: (text) => terminal.complain(text.trimEnd()),
    })

/** Returns a command as it is typed, e.g. `muster lab run`. */
const nameOf = (command: Command): string =>
  command.parent === null ? command.name() : `${nameOf(command.parent)} ${command.name()}`
