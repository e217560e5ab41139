import type { Command } from 'commander'
import type { ExitCode, Terminal } from '../terminal.js'
import { addCrowd } from './crowd.js'
import type { AddLabCommand } from './lab-command.js'
import { addReport, addRun } from './run.js'
import { addTest } from './test.js'
import { addTune } from './tune.js'

/** The help text of `muster lab` below its commands: the steps from a rule to its effect, in order. */
export const GUIDE = `
From a rule to what it does, step by step:
  muster init                                   queues to begin with, in muster.yaml
  muster lab crowd --players 5000 --hours 6 --out crowd.ndjson
                                                players like real ones
  muster lab run crowd.ndjson --queues muster.yaml --html report.html --out result.json
                                                what the queues make of them; a second --queues
                                                with other rules is compared with the first
  muster lab report result.json                 the same again, from what was saved
  muster lab tune crowd.ndjson --queue duel --wait-p90 60s --give-up 10%
                                                the best matches that keep these promises
  muster lab test scenes.yaml                   tests rules against expectations, also in CI

All of it: docs/rule-lab.md`

/** The commands below `muster lab`. */
const COMMANDS: readonly AddLabCommand[] = [addCrowd, addRun, addReport, addTest, addTune]

export function addLab(program: Command, terminal: Terminal, end: (code: ExitCode) => void): Command {
  const lab = program
    .command('lab')
    .description('simulate and test rules before players meet them')
    .addHelpText('after', GUIDE)
  for (const add of COMMANDS) add(lab, terminal, end)
  return lab
}
