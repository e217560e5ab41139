import { InvalidInput } from '@muster/core'
import { RESULT_FORMAT, type LabResult } from '../figures/lab-result.js'
import { jsonFault, read } from '@muster/core/validation'
import { resultSchema } from './result-schema.js'

/**
 * Reads a saved result, as `muster lab run --out` writes it.
 * @throws {InvalidInput} naming the field and what is wrong; for a text that is no JSON, line and column.
 */
export function readResult(text: string): LabResult {
  const value = parsed(text)
  const format: unknown = typeof value === 'object' && value !== null ? Reflect.get(value, 'format') : undefined
  if (format !== RESULT_FORMAT) throw refusal('format', formatWords(format))
  return read(resultSchema, value, refusal)
}

const refusal = (field: string, message: string) => new InvalidInput(message, { field })

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    const { line, column, wrong } = jsonFault(text) ?? { line: 1, column: 1, wrong: 'is not as described' }
    throw refusal('', `is no JSON: line ${line}, column ${column}: ${wrong}`)
  }
}

function formatWords(format: unknown): string {
  if (typeof format !== 'string') return 'is no result of muster lab run --out'
  return /^muster-lab-result-\d+$/.test(format)
    ? `has the format ${format}, and this version reads ${RESULT_FORMAT}: run the lab again`
    : 'is no result of muster lab run --out: its format is another'
}
