import { InvalidInput } from '@muster/core'
import type { CrowdParameters } from '@muster/lab'
import type { Command } from 'commander'
import { EXIT, type ExitCode } from '../exit-codes.js'
import { refusal } from '../refusal.js'
import type { Terminal } from '../terminal.js'
import type { AddLabCommand } from './add-lab-command.js'
import { parametersText, readCrowdParameters } from './crowd-parameters.js'
import { numberOption } from './option-values.js'
import { writeProduct } from './product.js'

interface CrowdOptions {
  readonly players?: number | undefined
  readonly hours?: number | undefined
  readonly seed: number
  readonly parameters?: string | undefined
  readonly showParameters?: boolean | undefined
  readonly out?: string | undefined
}

export const addCrowd: AddLabCommand = (lab, terminal, end): Command =>
  lab
    .command('crowd')
    .description('make a crowd of players, invented or from recorded traffic')
    .option('--players <number>', 'how many come (default: 50000)', numberOption(1, 10_000_000, true))
    .option('--hours <number>', 'in which they come (default: 24)', numberOption(0.01, 744))
    .option('--seed <number>', 'another seed makes other players', numberOption(0, 2 ** 32 - 1, true), 1)
    .option('--parameters <file>', 'all else that describes them, in YAML')
    .option('--show-parameters', 'write such a file with all defaults and where they come from')
    .option('--out <file>', 'where to write the crowd (default: the standard output)')
    .action(async (options: CrowdOptions) => {
      end(await crowd(options, terminal))
    })

async function crowd(options: CrowdOptions, terminal: Terminal): Promise<ExitCode> {
  const { describeCrowdParameters } = await import('@muster/lab')
  try {
    if (options.showParameters === true) {
      const text = parametersText(describeCrowdParameters())
      await writeProduct(options.out, terminal, async (put) => void (await put(`${text}\n`)))
    } else await writeSynthetic(options, terminal)
    return EXIT.ok
  } catch (error) {
    const code = refusal(error, options.parameters ?? 'the crowd', terminal)
    return error instanceof InvalidInput ? EXIT.wrong : code
  }
}

async function writeSynthetic(options: CrowdOptions, terminal: Terminal): Promise<void> {
  const { checkCrowdParameters, streamCrowd, writeCrowd } = await import('@muster/lab')
  const { players, hours, seed, parameters: file } = options
  const given: CrowdParameters = { ...(players !== undefined && { players }), ...(hours !== undefined && { hours }) }
  const parameters =
    file === undefined ? given : await readCrowdParameters(file, terminal.folder, given, checkCrowdParameters)
  const made = streamCrowd(parameters, seed)
  await writeProduct(options.out, terminal, (put) => writeCrowd(made, put))
}
