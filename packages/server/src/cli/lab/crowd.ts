import { resolve } from 'node:path'
import { InvalidInput } from '@muster/core'
import type { Crowd } from '@muster/lab'
import type { checkCrowdParameters, CrowdParameterDescription, CrowdParameters } from '@muster/lab/internal'
import { type Command, InvalidArgumentError } from 'commander'
import { stringify } from 'yaml'
import { createFindings, InvalidConfig, needTextFile, readYaml } from '../../config/index.js'
import { writeProduct } from '../output-file.js'
import { EXIT, type ExitCode, paint, refusal, type Terminal } from '../terminal.js'
import { type AddLabCommand, numberOption, type TimeSpan, spanOption, withProgress } from './lab-command.js'
import { readCrowdFile } from './lab-input.js'

/**
 * Reads the parameters of a crowd from a YAML or JSON file.
 * @param given options that take precedence over the file.
 * @param check the lab's check; the lab is imported lazily.
 * @throws {InvalidConfig} with all faults, by line and column
 */
async function readCrowdParameters(
  file: string,
  folder: string,
  given: CrowdParameters,
  check: typeof checkCrowdParameters,
): Promise<CrowdParameters> {
  const source = readYaml(await needTextFile(resolve(folder, file), file))
  const findings = createFindings(source)
  const value = source.value ?? {}
  const whole: unknown = typeof value === 'object' && !Array.isArray(value) ? { ...value, ...given } : value
  const { data, faults = [] } = source.faults.length > 0 ? {} : check(whole)
  findings.faults(faults, value)
  if (data === undefined) throw new InvalidConfig(file, findings.sorted())
  return data
}

/**
 * Returns a parameter file with all defaults. A comment above each parameter describes it and names the source of its
 * default.
 */
function parametersText(parameters: readonly CrowdParameterDescription[]): string {
  const lines: string[] = []
  let group = ''
  for (const { name, default: value, description } of parameters) {
    const [outer = '', inner] = name.split('.')
    const indent = inner === undefined ? '' : '  '
    if (inner !== undefined && outer !== group) lines.push(`${outer}:`)
    group = outer
    lines.push(`${indent}# ${description}.`)
    lines.push(...yamlOf(inner ?? outer, value).map((line) => indent + line))
  }
  return lines.join('\n')
}

/** Returns a parameter as YAML lines. A list of names and values has one line for each entry. */
function yamlOf(name: string, value: unknown): string[] {
  const isTable = Array.isArray(value) && typeof value[0] === 'object'
  const flow = { collectionStyle: 'flow', lineWidth: 0 } as const
  if (isTable) return [`${name}:`, ...value.map((entry) => `  - ${stringify(entry, flow).trimEnd()}`)]
  if (Array.isArray(value)) return [`${name}: ${stringify(value, flow).trimEnd()}`]
  return stringify({ [name]: value }, { lineWidth: 0 })
    .trimEnd()
    .split('\n')
}

interface CrowdOptions {
  readonly players?: number | undefined
  readonly hours?: number | undefined
  readonly seed: number
  readonly parameters?: string | undefined
  readonly showParameters?: boolean | undefined
  readonly from?: readonly string[] | undefined
  readonly scale?: number | undefined
  readonly cut?: TimeSpan | undefined
  readonly out?: string | undefined
}

export const addCrowd: AddLabCommand = (lab, terminal, end): Command =>
  lab
    .command('crowd')
    .description('make a crowd of players, generated or from recorded traffic')
    .option('--players <number>', 'number of players (default: 50000)', numberOption(1, 10_000_000, true))
    .option('--hours <number>', 'hours in which they arrive (default: 24)', numberOption(0.01, 744))
    .option(
      '--seed <number>',
      'seed of all random choices; another seed makes other players',
      numberOption(0, 2 ** 32 - 1, true),
      1,
    )
    .option('--parameters <file>', 'YAML file with all other parameters of the crowd')
    .option('--show-parameters', 'print a parameter file with all defaults and their sources')
    .option(
      '--from <files>',
      'crowd or traffic files to start from, separated by commas; several are mixed',
      filesOption,
    )
    .option('--cut <span>', 'take only this part of each file, e.g. 10m..70m', spanOption)
    .option('--scale <factor>', 'scale the number of players by 0.1 to 10', numberOption(0.1, 10))
    .option('--out <file>', 'where to write the crowd (default: the standard output)')
    .action(async (options: CrowdOptions) => end(await crowd(options, terminal)))

async function crowd(options: CrowdOptions, terminal: Terminal): Promise<ExitCode> {
  const contradiction = contradictionIn(options)
  if (contradiction !== undefined) {
    terminal.complain(`${paint(terminal.colours.complain).red('error')}: ${contradiction}`)
    return EXIT.wrong
  }
  try {
    if (options.showParameters === true) await writeParameters(options, terminal)
    else if (options.from === undefined) await writeInvented(options, terminal)
    else await writeChanged(options.from, options, terminal)
    return EXIT.ok
  } catch (error) {
    const code = refusal(error, terminal)
    return error instanceof InvalidInput ? EXIT.wrong : code
  }
}

/**
 * Returns why options contradict one another. They are rejected, because an option without effect would mislead the
 * caller.
 */
function contradictionIn({ from, players, hours, parameters, scale, cut }: CrowdOptions): string | undefined {
  const inventing = Object.entries({ players, hours, parameters }).find(([, value]) => value !== undefined)
  const changing = Object.entries({ scale, cut }).find(([, value]) => value !== undefined)
  if (from !== undefined && inventing !== undefined)
    return `--${inventing[0]} is for a generated crowd, so it cannot be used with --from`
  if (from === undefined && changing !== undefined) return `--${changing[0]} needs --from: the crowd to change`
  return undefined
}

async function writeParameters({ out }: CrowdOptions, terminal: Terminal): Promise<void> {
  const { describeCrowdParameters } = await import('@muster/lab/internal')
  const text = parametersText(describeCrowdParameters())
  await writeProduct(out, terminal, async (put) => void (await put(`${text}\n`)))
}

async function writeInvented(options: CrowdOptions, terminal: Terminal): Promise<void> {
  const { writeCrowd } = await import('@muster/lab')
  const { checkCrowdParameters, streamCrowd } = await import('@muster/lab/internal')
  const { players, hours, seed, parameters: file } = options
  const given: CrowdParameters = { ...(players !== undefined && { players }), ...(hours !== undefined && { hours }) }
  const parameters =
    file === undefined ? given : await readCrowdParameters(file, terminal.folder, given, checkCrowdParameters)
  const made = streamCrowd(parameters, seed)
  await writeProduct(options.out, terminal, (put) => writeCrowd(made, put))
}

async function writeChanged(
  files: readonly string[],
  { seed, scale, cut, out }: CrowdOptions,
  terminal: Terminal,
): Promise<void> {
  const { cutCrowd, mixCrowds, scaleCrowd, writeCrowd } = await import('@muster/lab')
  const crowds: Crowd[] = []
  for (const file of files) {
    // Shows progress, because the replay of recorded traffic is slow.
    const { crowd: read, notes } = await withProgress(terminal, (progress) => {
      if (terminal.draw !== undefined) progress.part(file)
      return readCrowdFile(file, terminal.folder, { seed, progressed: progress.share })
    })
    for (const note of notes) terminal.complain(`${file}: ${note}`)
    crowds.push(cut === undefined ? read : cutCrowd(read, cut.fromMs, cut.toMs))
  }
  const mixed = mixCrowds(...crowds)
  const scaled = scale === undefined ? mixed : scaleCrowd(mixed, scale, seed)
  await writeProduct(out, terminal, (put) => writeCrowd(scaled, put))
}

function filesOption(text: string): readonly string[] {
  const files = text.split(',').map((file) => file.trim())
  if (files.includes('')) throw new InvalidArgumentError('The value must be file names separated by commas.')
  return files
}
