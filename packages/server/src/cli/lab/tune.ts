import { InvalidInput } from '@muster/core'
import { systemClock } from '@muster/core/clock'
import type { Crowd, TunedCrowd } from '@muster/lab'
import { InvalidQueue, type Queue } from '@muster/matchmaker'
import type { Command } from 'commander'
import { NotEdited } from '../../running/edit-queue.js'
import { EXIT, type ExitCode } from '../exit-codes.js'
import { refusal } from '../refusal.js'
import { paint, type Terminal } from '../terminal.js'
import type { AddLabCommand } from './add-lab-command.js'
import { interruptible } from './interrupt.js'
import { durationOption, numberOption } from './option-values.js'
import { createProgress } from './progress.js'
import { readCrowdFile } from './read-crowd.js'
import { readQueues } from './read-queues.js'
import { finishTuned } from './finish-tuned.js'
import {
  boundsOption,
  checkOptions,
  queueOf,
  shareOption,
  waitsOption,
  type TuneCommandOptions,
} from './tune-options.js'

const BOUNDS =
  'a range for a limit, e.g. "difference skill=50..400", in place of what the file has; several may be given'

export const addTune: AddLabCommand = (lab, terminal, end): Command =>
  lab
    .command('tune')
    .description('search the relaxation steps of a queue for the best matches that keep promises')
    .argument('<crowd>', 'a crowd, as of muster lab crowd, or recorded traffic')
    .requiredOption('--queue <name>', 'the queue')
    .option('-q, --queues <file>', 'its file: a configuration, or one with queues alone', 'muster.yaml')
    .option('--wait-p90 <time>', 'promise: 90 % of the matched find a match within it', durationOption('1s', '1h'))
    .option('--give-up <share>', 'promise: at most so many wait in vain, like 5%', shareOption)
    .option('--also <waits>', 'search these too: fillForMs, lastResortMs, optionalAfterMs', waitsOption)
    .option('--bounds <limit=from..to>', BOUNDS, boundsOption)
    .option('--seeds <number>', 'seeds that schedules are chosen by', numberOption(1, 100, true), 3)
    .option('--unseen <number>', 'other seeds, that the result is told of', numberOption(1, 100, true), 5)
    .option('--budget <runs>', 'most runs over the whole crowd', numberOption(1, 100_000, true), 200)
    .option('--threads <number>', 'runs at once (default: one fewer than processors)', numberOption(1, 256, true))
    .option('--tick <time>', 'between two ticks (default: 250ms)', durationOption('1ms', '60s'))
    .option('--skill <attribute>', "players' skill where the crowd does not say the true one")
    .option('--json', 'the result as one JSON object on the standard output, for programs')
    .option('--html <file>', 'write it as a page, with a plot of what can be had')
    .option('--patch <file>', 'write the change as a patch, for git apply and patch -p1')
    .option('--write', 'change the file itself')
    .action(async (crowd: string, options: TuneCommandOptions) => {
      end(await tune(crowd, options, terminal))
    })

/** Tunes the queue, and tells what came of it. */
async function tune(crowdFile: string, options: TuneCommandOptions, terminal: Terminal): Promise<ExitCode> {
  let reading = options.queues
  try {
    checkOptions(options)
    const file = await readQueues(options.queues, terminal.folder)
    const queue = queueOf(file, options.queue)
    const { crowd, notes } = await readCrowdFile((reading = crowdFile), terminal.folder)
    for (const note of notes) terminal.complain(`${crowdFile}: ${note}`)
    reading = options.queues
    const tuned = await interruptible((signal) => withProgress(crowd, queue, options, terminal, signal))
    return tuned === undefined ? EXIT.interrupted : await finishTuned(tuned, file, crowdFile, options, terminal)
  } catch (error) {
    return await refused(error, reading, terminal)
  }
}

async function refused(error: unknown, reading: string, terminal: Terminal): Promise<ExitCode> {
  const { NotTunable } = await import('@muster/lab')
  if (!(error instanceof NotTunable)) {
    const code = refusal(error, reading, terminal)
    const isWrong = error instanceof InvalidInput || error instanceof InvalidQueue || error instanceof NotEdited
    return isWrong ? EXIT.wrong : code
  }
  // The library names its options as they are called there.
  const message = error.message.replace(/^(bounds|also|budget):/, '--$1:')
  terminal.complain(`${paint(terminal.colours.complain).red('error')}: ${message}`)
  return EXIT.wrong
}

async function withProgress(
  crowd: Crowd,
  queue: Queue,
  options: TuneCommandOptions,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<TunedCrowd> {
  const { tuneCrowd } = await import('@muster/lab')
  const { waitP90, giveUp, also, bounds, seeds, unseen, budget, threads, tick, skill } = options
  const first = crowd.header.made?.seed ?? 0
  const seedsFrom = (from: number, count: number) => Array.from({ length: count }, (_, index) => from + index)
  const progress = createProgress(terminal, systemClock)
  try {
    return await tuneCrowd({
      crowd,
      queue,
      promises: { waitP90Ms: waitP90, gaveUp: giveUp },
      trainingSeeds: seedsFrom(first, seeds),
      unseenSeeds: seedsFrom(first + seeds, unseen),
      also,
      bounds,
      budget,
      threads,
      tickMs: tick,
      skillAttribute: skill,
      progressed: progress.share,
      signal,
    })
  } finally {
    progress.end()
  }
}
