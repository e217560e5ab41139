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

/** Reads an option like `250ms`, `5s` or `2m`, in milliseconds. */
export const durationOption =
  (least: string, most: string) =>
  (text: string): number => {
    const ms = durationMs(text)
    if (ms !== undefined && ms >= (durationMs(least) ?? 0) && ms <= (durationMs(most) ?? 0)) return ms
    throw new InvalidArgumentError(`It must be a time from ${least} to ${most}, like 250ms, 5s or 2m.`)
  }

export interface Price {
  readonly perMinute: number
  /** As its three letters (ISO 4217). */
  readonly currency: string
}

/** Reads the price of an hour, like `0.12` or `0.12EUR`. */
export function hourPriceOption(text: string): Price {
  const [, number = '', currency = 'USD'] = /^(\d+(?:\.\d+)?) ?([A-Z]{3})?$/.exec(text) ?? []
  if (number === '') throw new InvalidArgumentError('It must be a price like 0.12 or 0.12EUR.')
  return { perMinute: Number(number) / 60, currency }
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
