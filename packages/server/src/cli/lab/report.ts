import { resolve } from 'node:path'
import { InvalidInput } from '@muster/core'
import type { LabResult } from '@muster/lab'
import type { Command } from 'commander'
import { InvalidConfig } from '../../config/finding.js'
import { readTextFile } from '../../config/read-text.js'
import { EXIT, type ExitCode } from '../exit-codes.js'
import { refusal } from '../refusal.js'
import type { Terminal } from '../terminal.js'
import type { AddLabCommand } from './add-lab-command.js'
import { writeProduct } from './product.js'

/** How a result is told. */
export interface ReportOptions {
  readonly html?: string | undefined
  readonly json?: boolean | undefined
}

/** Largest result in bytes: a run of four files over a hundred seeds has 15 MB. */
const LARGEST_RESULT = 64 * 2 ** 20

export const HTML_OPTION = ['--html <file>', 'write a report with plots there, for browsers and paper'] as const
export const JSON_OPTION = ['--json', 'the result and comparisons as one JSON object on the standard output'] as const

export const addReport: AddLabCommand = (lab, terminal, end): Command =>
  lab
    .command('report')
    .description('tell of a saved result again, as muster lab run does')
    .argument('<result>', 'what muster lab run --out has written')
    .option(...HTML_OPTION)
    .option(...JSON_OPTION)
    .action(async (file: string, options: ReportOptions) => {
      end(await report(file, options, terminal))
    })

async function report(file: string, options: ReportOptions, terminal: Terminal): Promise<ExitCode> {
  const { readResult } = await import('@muster/lab')
  try {
    const read = await readTextFile(resolve(terminal.folder, file), LARGEST_RESULT)
    if (read.wrong !== undefined) throw wrong(file, read.wrong)
    await tellResult(resultOf(file, read.text, readResult), options, terminal)
    return EXIT.ok
  } catch (error) {
    return refusal(error, file, terminal)
  }
}

function resultOf(file: string, text: string, readResult: (text: string) => LabResult): LabResult {
  try {
    return readResult(text)
  } catch (error) {
    throw error instanceof InvalidInput ? wrong(file, error.message) : error
  }
}

const wrong = (file: string, message: string) => new InvalidConfig(file, [{ severity: 'error', field: '', message }])

/** Tells a result: as a table, or as JSON, and as a page if one is wanted. */
export async function tellResult(result: LabResult, { html, json }: ReportOptions, terminal: Terminal): Promise<void> {
  const { compare, reportHtml, reportText } = await import('@muster/lab')
  if (html !== undefined) {
    const page = await reportHtml(result)
    await writeProduct(html, terminal, async (put) => void (await put(page)))
  }
  if (json === true) await terminal.put(`${JSON.stringify({ ...result, comparisons: compare(result) })}\n`)
  else terminal.say(reportText(result))
}
