import { InvalidInput } from '@muster/core'
import { didYouMean } from '@muster/core/internal'
import type { Crowd } from '@muster/lab'
import type { Bounds, TunedCrowd, WaitName } from '@muster/lab/internal'
import { InvalidQueue, type Queue } from '@muster/matchmaker'
import { type Command, InvalidArgumentError } from 'commander'
import { NotEdited } from '../../running/index.js'
import { assertOutputs, writeText } from '../output-file.js'
import { EXIT, type ExitCode, paint, refusal, type Terminal } from '../terminal.js'
import { type AddLabCommand, durationOption, interruptible, numberOption, withProgress } from './lab-command.js'
import { type QueueFile, readCrowdFile, readQueues } from './lab-input.js'
import { patchOf, tunedText, writeTuned } from './tuned-file.js'

/** The file names that the printed result mentions. */
interface TunedNames {
  /** The file of the queue, and the file of the crowd. */
  readonly file: string
  readonly crowd: string
  /** Path of the written patch; empty if nothing changes. */
  readonly patch: string
}

/** Prints the result as tables and sentences, or as JSON. With `html`, also writes a page. */
async function tellTuned(
  tuned: TunedCrowd,
  { file, crowd, patch }: TunedNames,
  { json, html, patch: patchFile, write }: Pick<TuneCommandOptions, 'json' | 'html' | 'patch' | 'write'>,
  terminal: Terminal,
): Promise<void> {
  const { frontHtml, tunedChanges, tunedSentences, tunedTables, tunedVerdict } = await import('@muster/lab/internal')
  if (html !== undefined) {
    const page = await frontHtml({
      title: `${tuned.queue.name} of ${file}, tuned for ${crowd}`,
      sentences: [...tunedSentences(tuned), ...tunedChanges(tuned)],
      front: tuned.front,
      promisedMs: tuned.promises.waitP90Ms,
      patch: patch === '' ? undefined : patch,
    })
    await writeText(html, terminal, page)
  }
  if (json === true) {
    const output = { file, crowd, ...tuned, verdict: tunedVerdict(tuned), sentences: tunedSentences(tuned), patch }
    await terminal.put(`${JSON.stringify(output, forPrograms)}\n`)
    return
  }
  terminal.say(tunedTables(tuned, file))
  terminal.say(`\n${tunedSentences(tuned).join('\n')}`)
  if (patch !== '' && patchFile === undefined && write !== true) terminal.say(`\n${patch.trimEnd()}`)
}

/**
 * JSON replacer. It omits the figures of single runs and writes Infinity as a string, because JSON has no number for
 * it.
 */
const forPrograms = (key: string, value: unknown): unknown =>
  key === 'figures' ? undefined : value === Infinity ? 'Infinity' : value

/**
 * Prints the result and writes the requested files. A result that breaks a promise is not written into the
 * configuration file.
 */
export async function finishTuned(
  tuned: TunedCrowd,
  file: QueueFile,
  crowdFile: string,
  options: Pick<TuneCommandOptions, 'json' | 'html' | 'patch' | 'write'>,
  terminal: Terminal,
): Promise<ExitCode> {
  const { tunedVerdict } = await import('@muster/lab/internal')
  const holds = tuned.possible && tunedVerdict(tuned).broken.length === 0
  const text = tuned.possible ? await tunedText(file, tuned.queue, tuned.changes) : file.source.text
  const patch = patchOf(file, terminal.folder, text)
  await tellTuned(tuned, { file: file.file, crowd: crowdFile, patch }, options, terminal)
  const { patch: patchFile, write } = options
  if (patchFile !== undefined && patch !== '') await writeText(patchFile, terminal, patch)
  if (write === true && patch !== '') {
    if (holds) await writeTuned(file, terminal.folder, text)
    terminal.complain(holds ? `${file.file} is changed.` : `${file.file} stays as it is: the promises are not kept.`)
  }
  return holds ? EXIT.ok : EXIT.failed
}

/** The options of `muster lab tune` as given. */
interface TuneCommandOptions {
  readonly queue: string
  readonly queues: string
  readonly waitP90?: number | undefined
  readonly giveUp?: number | undefined
  readonly also?: readonly WaitName[] | undefined
  readonly bounds?: Readonly<Record<string, Bounds>> | undefined
  readonly seeds: number
  readonly unseen: number
  readonly budget: number
  readonly threads?: number | undefined
  readonly tick?: number | undefined
  readonly skill?: string | undefined
  readonly json?: boolean | undefined
  readonly html?: string | undefined
  readonly patch?: string | undefined
  readonly write?: boolean | undefined
}

/** Parses a share, like `5%` or `0.05`. */
function shareOption(text: string): number {
  const [, number = '', percent] = /^(\d+(?:\.\d+)?|\.\d+) ?(%)?$/.exec(text.trim()) ?? []
  const share = percent === undefined ? Number(number) : Number(number) / 100
  if (number !== '' && share <= 1) return share
  throw new InvalidArgumentError('The value must be a share of the players, like 5% or 0.05.')
}

/** The waits that can be tuned. Equal to `WAITS` of `@muster/lab`, which is imported lazily. */
const WAITS: readonly WaitName[] = ['fillForMs', 'lastResortMs', 'optionalAfterMs', 'patience']

/** Parses a list of waits, like `fillForMs,lastResortMs`. */
function waitsOption(text: string): readonly WaitName[] {
  const names = text.split(',').map((name) => name.trim())
  return [...new Set(names)].map((given) => {
    const name = WAITS.find((one) => one === given)
    if (name !== undefined) return name
    const near = didYouMean(given, WAITS)
    throw new InvalidArgumentError(`${JSON.stringify(given)} is not one of ${WAITS.join(', ')}${near}.`)
  })
}

const BOUNDS = /^(.+)=(-?\d+(?:\.\d+)?)\.\.(-?\d+(?:\.\d+)?)$/

/** Parses bounds of a limit, like `difference skill=50..400`. */
function boundsOption(text: string, others: Readonly<Record<string, Bounds>> = {}): Readonly<Record<string, Bounds>> {
  const [, name = '', from = '', to = ''] = BOUNDS.exec(text) ?? []
  if (name === '' || Number(from) === Number(to))
    throw new InvalidArgumentError(
      'The value must be a limit and two different numbers, like "difference skill=50..400".',
    )
  return { ...others, [name.trim()]: { from: Number(from), to: Number(to) } }
}

/** Returns the queue with this name. @throws {InvalidInput} if the file has no such queue. */
function queueOf({ file, queues }: QueueFile, name: string): Queue {
  const found = queues.find((queue) => queue.name === name)
  if (found !== undefined) return found
  const names = queues.map((queue) => queue.name)
  const has = `it has ${names.map((one) => JSON.stringify(one)).join(', ')}`
  throw new InvalidInput(`--queue: ${file} has no queue ${JSON.stringify(name)}${didYouMean(name, names)} (${has})`)
}

/** Checks that the options do not contradict one another. @throws {InvalidInput} */
function checkOptions({ waitP90, giveUp }: TuneCommandOptions): void {
  if (waitP90 === undefined && giveUp === undefined)
    throw new InvalidInput(
      '--wait-p90 or --give-up is required: the bound that the queue must keep, e.g. --wait-p90 30s',
    )
}

const BOUNDS_HELP = 'range in which a limit is searched, e.g. "difference skill=50..400"; can be repeated'

export const addTune: AddLabCommand = (lab, terminal, end): Command =>
  lab
    .command('tune')
    .description('search the relaxation steps of a queue for the best matches that keep promises')
    .argument('<crowd>', 'file with a crowd (of muster lab crowd) or recorded traffic')
    .requiredOption('--queue <name>', 'the queue')
    .option('-q, --queues <file>', 'file with the queue: a configuration, or queues alone', 'muster.yaml')
    .option(
      '--wait-p90 <time>',
      'promise: 90 % of the matched players find a match within this time',
      durationOption('1s', '1h'),
    )
    .option('--give-up <share>', 'promise: at most this share of the players waits in vain, like 5%', shareOption)
    .option('--also <waits>', 'also search these: fillForMs, lastResortMs, optionalAfterMs, patience', waitsOption)
    .option('--bounds <limit=from..to>', BOUNDS_HELP, boundsOption)
    .option(
      '--seeds <number>',
      'number of training seeds, by which schedules are chosen',
      numberOption(1, 100, true),
      3,
    )
    .option(
      '--unseen <number>',
      'number of other seeds, on which the result is verified',
      numberOption(1, 100, true),
      5,
    )
    .option('--budget <runs>', 'maximum number of runs over the whole crowd', numberOption(1, 100_000, true), 200)
    .option(
      '--threads <number>',
      'number of runs at once (default: one fewer than processors)',
      numberOption(1, 256, true),
    )
    .option('--tick <time>', 'time between two ticks (default: 250ms)', durationOption('1ms', '60s'))
    .option('--skill <attribute>', 'attribute used as skill if the crowd has no true skill')
    .option('--json', 'the result as one JSON object on the standard output, for programs')
    .option('--html <file>', 'also write the result as a page, with a plot of cost against waiting')
    .option('--patch <file>', 'write the change as a patch, for git apply and patch -p1')
    .option('--write', 'change the file of the queue itself')
    .action(async (crowd: string, options: TuneCommandOptions) => end(await tune(crowd, options, terminal)))

/** Tunes the queue, and prints the result. */
async function tune(crowdFile: string, options: TuneCommandOptions, terminal: Terminal): Promise<ExitCode> {
  try {
    checkOptions(options)
    const { patch, html } = options
    await assertOutputs({ '--patch': patch, '--html': html }, [crowdFile, options.queues], terminal)
    const file = await readQueues(options.queues, terminal.folder)
    const queue = queueOf(file, options.queue)
    const { crowd, notes } = await readCrowdFile(crowdFile, terminal.folder)
    for (const note of notes) terminal.complain(`${crowdFile}: ${note}`)
    const tuned = await interruptible((signal) => tuneQueue(crowd, queue, options, terminal, signal))
    return tuned === undefined ? EXIT.interrupted : await finishTuned(tuned, file, crowdFile, options, terminal)
  } catch (error) {
    return await refused(error, terminal)
  }
}

async function refused(error: unknown, terminal: Terminal): Promise<ExitCode> {
  const { NotTunable } = await import('@muster/lab/internal')
  if (!(error instanceof NotTunable)) {
    const code = refusal(error, terminal)
    const isWrong = error instanceof InvalidInput || error instanceof InvalidQueue || error instanceof NotEdited
    return isWrong ? EXIT.wrong : code
  }
  // The library's errors name its options, so add the dashes of the command line.
  const message = error.message.replace(/^(bounds|also|budget):/, '--$1:')
  terminal.complain(`${paint(terminal.colours.complain).red('error')}: ${message}`)
  return EXIT.wrong
}

async function tuneQueue(
  crowd: Crowd,
  queue: Queue,
  options: TuneCommandOptions,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<TunedCrowd> {
  const { tuneCrowd } = await import('@muster/lab')
  const { waitP90, giveUp, also, bounds, seeds, unseen, budget, threads, tick, skill } = options
  const first = crowd.header.made?.seed ?? 0
  const seedsFrom = (from: number, count: number) =>
    Array.from({ length: count }, (_, index) => (from + index) % 2 ** 32)
  return withProgress(terminal, (progress) =>
    tuneCrowd({
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
    }),
  )
}
