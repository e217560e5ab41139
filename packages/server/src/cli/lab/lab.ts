import type { Command } from 'commander'
import type { ExitCode } from '../exit-codes.js'
import type { Terminal } from '../terminal.js'
import type { AddLabCommand } from './add-lab-command.js'
import { addCrowd } from './crowd.js'
import { addReport } from './report.js'
import { GUIDE } from './guide.js'
import { addRun } from './run.js'
import { addTest } from './test.js'
import { addTune } from './tune.js'

/** The commands below `muster lab`. */
const COMMANDS: readonly AddLabCommand[] = [addCrowd, addRun, addReport, addTest, addTune]

export function addLab(program: Command, terminal: Terminal, end: (code: ExitCode) => void): Command {
  const lab = program
    .command('lab')
    .description('know what a rule does before players feel it')
    .addHelpText('after', GUIDE)
  for (const add of COMMANDS) add(lab, terminal, end)
  return lab
}
