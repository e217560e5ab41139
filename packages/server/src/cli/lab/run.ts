import { resolve } from 'node:path'
import { InvalidInput } from '@muster/core'
import type { LabResult, LabRun } from '@muster/lab'
import type { Command } from 'commander'
import { InvalidConfig, needTextFile } from '../../config/index.js'
import { assertOutputs, writeText } from '../output-file.js'
import { EXIT, type ExitCode, refusal, type Terminal } from '../terminal.js'
import {
  type AddLabCommand,
  durationOption,
  hourPriceOption,
  interruptible,
  numberOption,
  type Price,
  withProgress,
} from './lab-command.js'
import { type QueueFile, readCrowdFile, readQueues } from './lab-input.js'

/** How a result is printed. */
interface ReportOptions {
  readonly html?: string | undefined
  readonly json?: boolean | undefined
}

/** Maximum size of a result in bytes (64 MiB). The result of a run of four files over a hundred seeds has 15 MB. */
const LARGEST_RESULT = 64 * 2 ** 20

const HTML_OPTION = ['--html <file>', 'also write a report with plots, for browsers and paper'] as const
const JSON_OPTION = ['--json', 'the result and comparisons as one JSON object on the standard output'] as const

export const addReport: AddLabCommand = (lab, terminal, end): Command =>
  lab
    .command('report')
    .description('print a saved result again, as muster lab run does')
    .argument('<result>', 'the file that muster lab run --out has written')
    .option(...HTML_OPTION)
    .option(...JSON_OPTION)
    .action(async (file: string, options: ReportOptions) => end(await report(file, options, terminal)))

async function report(file: string, options: ReportOptions, terminal: Terminal): Promise<ExitCode> {
  const { readResult } = await import('@muster/lab/internal')
  try {
    await assertOutputs({ '--html': options.html }, [file], terminal)
    const text = await needTextFile(resolve(terminal.folder, file), file, LARGEST_RESULT)
    await tellResult(resultOf(file, text, readResult), options, terminal)
    return EXIT.ok
  } catch (error) {
    return refusal(error, terminal)
  }
}

function resultOf(file: string, text: string, readResult: (text: string) => LabResult): LabResult {
  try {
    return readResult(text)
  } catch (error) {
    throw error instanceof InvalidInput ? InvalidConfig.because(file, error.message) : error
  }
}

/** Prints the result as a table or as JSON. With `html`, also writes a page with plots. */
async function tellResult(result: LabResult, { html, json }: ReportOptions, terminal: Terminal): Promise<void> {
  const { compare, reportHtml, reportText } = await import('@muster/lab')
  if (html !== undefined) await writeText(html, terminal, await reportHtml(result))
  if (json === true) await terminal.put(`${JSON.stringify({ ...result, comparisons: compare(result) })}\n`)
  else terminal.say(reportText(result))
}

interface RunCommandOptions extends ReportOptions {
  readonly queues: readonly string[]
  readonly seeds?: number | undefined
  readonly threads?: number | undefined
  readonly tick?: number | undefined
  readonly serverStart?: number | undefined
  readonly serverHour?: Price | undefined
  readonly skill?: string | undefined
  readonly withoutBound?: boolean | undefined
  readonly ratings?: boolean | undefined
  readonly newcomers?: number | undefined
  readonly newcomersBelow?: number | undefined
  readonly out?: string | undefined
}

/** Default number of seeds, equal to that of `runLab`. */
const DEFAULT_SEEDS = 5
const QUEUES = 'file with the queues, e.g. a configuration; repeat it to compare files with the first'

export const addRun: AddLabCommand = (lab, terminal, end): Command =>
  lab
    .command('run')
    .description('simulate a crowd in queues: the real matchmaker on virtual time')
    .argument('<crowd>', 'file with a crowd (of muster lab crowd) or recorded traffic')
    .requiredOption('-q, --queues <file>', QUEUES, (file: string, files: readonly string[] = []) => [...files, file])
    .option('--seeds <number>', 'number of runs, each with other players (default: 5)', numberOption(1, 1000, true))
    .option(
      '--threads <number>',
      'number of runs at once (default: one fewer than processors)',
      numberOption(1, 256, true),
    )
    .option('--tick <time>', 'time between two ticks (default: 250ms)', durationOption('1ms', '60s'))
    .option('--server-start <time>', 'time until a server is READY (default: 5s)', durationOption('0ms', '10m'))
    .option('--server-hour <price>', 'what a server costs in an hour, e.g. 0.12EUR', hourPriceOption)
    .option('--skill <attribute>', 'attribute used as skill if the crowd has no true skill (default: skill)')
    .option('--ratings', 'give players the attributes mu, sigma and rating, learned by openskill from the matches')
    .option('--newcomers <share>', 'share of players who are new, with --ratings (default: 0.1)', numberOption(0, 1))
    .option(
      '--newcomers-below <deviations>',
      'how much weaker new players are, with --ratings (default: 0)',
      numberOption(0, 0.7),
    )
    .option('--without-bound', 'skip the bounds of what is possible, which take a second or two for each run')
    .option(...HTML_OPTION)
    .option(...JSON_OPTION)
    .option('--out <file>', 'also write the result to this file, for muster lab report')
    .action(async (crowd: string, options: RunCommandOptions) => end(await run(crowd, options, terminal)))

/** Runs the queues of each file over the crowd, and prints the result. */
async function run(crowdFile: string, options: RunCommandOptions, terminal: Terminal): Promise<ExitCode> {
  try {
    assertDistinctFiles(options.queues, terminal.folder)
    const { ratings, newcomers, newcomersBelow } = options
    if ((newcomers ?? newcomersBelow) !== undefined && ratings !== true)
      throw new InvalidInput('--newcomers and --newcomers-below: need --ratings')
    const { out, html, queues: queueFiles } = options
    await assertOutputs({ '--out': out, '--html': html }, [crowdFile, ...queueFiles], terminal)
    const files: QueueFile[] = []
    for (const file of options.queues) files.push(await readQueues(file, terminal.folder))
    const { crowd, notes } = await readCrowdFile(crowdFile, terminal.folder)
    for (const note of notes) terminal.complain(`${crowdFile}: ${note}`)
    const variants = files.map(({ file, queues, pools }) => ({ name: file, queues, pools }))
    const result = await interruptible((signal) =>
      runVariants({ crowd, crowdName: crowdFile, variants }, options, terminal, signal),
    )
    if (result === undefined) return EXIT.interrupted
    await tell(result, options, terminal)
    return EXIT.ok
  } catch (error) {
    const code = refusal(error, terminal)
    return error instanceof InvalidInput ? EXIT.wrong : code
  }
}

/** Checks that all paths name different files. @throws {InvalidInput} */
function assertDistinctFiles(files: readonly string[], folder: string): void {
  for (const [index, file] of files.entries()) {
    const other = files.slice(0, index).find((one) => resolve(folder, one) === resolve(folder, file))
    if (other !== undefined) throw new InvalidInput(`--queues: ${other} and ${file} are the same file`)
  }
}

async function runVariants(
  given: LabRun,
  options: RunCommandOptions,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<LabResult> {
  const { runLab } = await import('@muster/lab')
  const { seeds, threads, tick, serverStart, serverHour, skill, withoutBound } = options
  const { newcomers, newcomersBelow } = options
  const ratings = options.ratings === true ? { newcomers, newcomersBelow } : undefined
  const figures = { price: serverHour, skillAttribute: skill }
  return withProgress(terminal, (progress) => {
    let runs = 0
    const ran = (variant: string, seed: number) => {
      runs += 1
      progress.part(`${runs} of ${(seeds ?? DEFAULT_SEEDS) * given.variants.length}: ${variant} with seed ${seed}`)
    }
    return runLab(
      { ...given, seeds, tickMs: tick, startMs: serverStart, ratings, figures, possible: withoutBound !== true },
      { threads, signal, ran, progressed: progress.share },
    )
  })
}

async function tell(result: LabResult, { json, out, html }: RunCommandOptions, terminal: Terminal): Promise<void> {
  if (out !== undefined) await writeText(out, terminal, `${JSON.stringify(result)}\n`)
  await tellResult(result, { json, html }, terminal)
}
