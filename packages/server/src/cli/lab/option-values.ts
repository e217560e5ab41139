import { InvalidArgumentError } from 'commander'

/** Reads the number of an option. */
export const numberOption =
  (least: number, most: number, isWhole = false) =>
  (text: string): number => {
    const number = text.trim() === '' ? Number.NaN : Number(text)
    if (number >= least && number <= most && (!isWhole || Number.isInteger(number))) return number
    const kind = isWhole ? 'a whole number' : 'a number'
    throw new InvalidArgumentError(`It must be ${kind} from ${least} to ${most}.`)
  }

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }
const DURATION = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/

function durationMs(text: string): number | undefined {
  const [, number = '', unit = ''] = DURATION.exec(text) ?? []
  return unit === '' ? undefined : Math.round(Number(number) * (UNIT_MS[unit] as number))
}

/** Milliseconds from and to, both counted from the beginning. */
export interface Span {
  readonly fromMs: number
  readonly toMs: number
}

/** Reads an option like `10m..70m`. */
export function spanOption(text: string): Span {
  const [from = '', to = '', ...more] = text.split('..')
  const [fromMs, toMs] = [durationMs(from), durationMs(to)]
  if (fromMs === undefined || toMs === undefined || more.length > 0 || fromMs >= toMs)
    throw new InvalidArgumentError('It must be two times from the beginning, like 10m..70m.')
  return { fromMs, toMs }
}
