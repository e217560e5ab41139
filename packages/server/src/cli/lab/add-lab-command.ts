import type { Command } from 'commander'
import type { ExitCode } from '../exit-codes.js'
import type { Terminal } from '../terminal.js'

/** A command below `muster lab`. It loads `@muster/lab` when it is carried out, and no other command waits for it. */
export type AddLabCommand = (lab: Command, terminal: Terminal, end: (code: ExitCode) => void) => Command
