import type { Command } from 'commander'
import type { ExitCode } from '../exit-codes.js'
import type { Terminal } from '../terminal.js'

/** A command below `muster lab`. It loads `@muster/lab` when it is carried out, and no other command waits for it. */
export type AddLabCommand = (lab: Command, terminal: Terminal, end: (code: ExitCode) => void) => Command

/** The commands below `muster lab`. */
const COMMANDS: readonly AddLabCommand[] = []

export function addLab(program: Command, terminal: Terminal, end: (code: ExitCode) => void): Command {
  const lab = program.command('lab').description('know what a rule does before players feel it')
  for (const add of COMMANDS) add(lab, terminal, end)
  return lab
}
