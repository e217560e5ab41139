// pure: what the author of a file may have meant by a text where no text belongs
/** Milliseconds of each unit that people write behind a number. */
const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, sec: 1000, m: 60_000, min: 60_000, h: 3_600_000 }

/**
 * `; write 5000, in milliseconds`, or an empty text.
 * @param wrong what is wrong with the value.
 * @param raw the value as the file writes it.
 */
export function hintOf(field: string, value: unknown, wrong: string, raw: string): string {
  if (typeof value === 'number' || typeof value === 'boolean')
    return wrong === 'must be a text' ? `; write "${raw}", in quotes` : ''
  if (typeof value !== 'string') return ''
  if (wrong.startsWith('must be true or false'))
    return /^(yes|no|on|off|y|n)$/i.test(value) ? `; write ${truthOf(value)}` : ''
  if (!wrong.includes('number')) return ''
  const number = /^([+-]?\d[\d_]*(?:\.\d+)?)\s*([a-z]*)$/i.exec(value.trim())
  const [, digits = '', unit = ''] = number ?? []
  const plain = Number(digits.replaceAll('_', ''))
  if (number === null || !Number.isFinite(plain)) return ''
  if (unit === '') return `; write ${plain}, without quotes or underscores`
  const factor = UNITS[unit.toLowerCase()]
  return factor !== undefined && field.endsWith('Ms') ? `; write ${plain * factor}, in milliseconds` : ''
}

const truthOf = (word: string) => (/^(yes|on|y)$/i.test(word) ? 'true' : 'false')
