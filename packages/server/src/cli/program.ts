import { Command, CommanderError } from 'commander'
import { version } from '../version.js'
import { addCheck } from './check.js'
import { addDev } from './dev.js'
import { EXIT, type ExitCode } from './exit-codes.js'
import { addInit } from './init.js'
import { addLab } from './lab/lab.js'
import { addSchema } from './schema.js'
import { addServe } from './serve.js'
import { paint, type Terminal } from './terminal.js'

/** Runs the command line. @param args without the program's own name. */
export async function runProgram(args: readonly string[], terminal: Terminal): Promise<ExitCode> {
  let code: ExitCode = EXIT.ok
  const end = (with_: ExitCode) => {
    code = with_
  }
  const program = new Command('muster')
    .description('Matchmaking that deploys a game server for every match')
    .version(version)
    .showHelpAfterError('muster --help lists all commands')
  hearing(program, terminal)
  addDev(program, terminal)
  addInit(program, terminal, end)
  addCheck(program, terminal, end)
  addServe(program, terminal)
  addLab(program, terminal, end)
  addSchema(program, terminal)
  for (const command of program.commands.flatMap((one) => [one, ...one.commands])) hearing(command, terminal)
  try {
    await program.parseAsync(args, { from: 'user' })
    return code
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.wrong
    terminal.complain(`${paint(terminal.colours.complain).red('error')}: ${messageOf(error)}`)
    return EXIT.failed
  }
}

/** A command that writes to the terminal and throws, instead of ending the process. */
const hearing = (command: Command, terminal: Terminal): Command =>
  command.exitOverride().configureOutput({
    writeOut: (text) => terminal.say(text.trimEnd()),
    writeErr: (text) => terminal.complain(text.trimEnd()),
  })

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error))
