import { type Clock, systemClock } from '@muster/core/clock'
import { type Command, InvalidArgumentError } from 'commander'
import type { ExitCode, Terminal } from '../terminal.js'

/**
 * Adds a command below `muster lab`. The command imports `@muster/lab` only when it runs, so other commands start
 * faster.
 */
export type AddLabCommand = (lab: Command, terminal: Terminal, end: (code: ExitCode) => void) => Command

/** Returns a parser for an option with a number from `least` to `most`. */
export const numberOption =
  (least: number, most: number, isWhole = false) =>
  (text: string): number => {
    const number = text.trim() === '' ? Number.NaN : Number(text)
    if (number >= least && number <= most && (!isWhole || Number.isInteger(number))) return number
    const kind = isWhole ? 'a whole number' : 'a number'
    throw new InvalidArgumentError(`The value must be ${kind} from ${least} to ${most}.`)
  }

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }
const DURATION = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/

function durationMs(text: string): number | undefined {
  const [, number = '', unit = ''] = DURATION.exec(text) ?? []
  return unit === '' ? undefined : Math.round(Number(number) * (UNIT_MS[unit] as number))
}

/** Returns a parser for an option like `250ms`, `5s` or `2m`. The parser returns milliseconds. */
export const durationOption =
  (least: string, most: string) =>
  (text: string): number => {
    const ms = durationMs(text)
    if (ms !== undefined && ms >= (durationMs(least) ?? 0) && ms <= (durationMs(most) ?? 0)) return ms
    throw new InvalidArgumentError(`The value must be a time from ${least} to ${most}, like 250ms, 5s or 2m.`)
  }

export interface Price {
  readonly perMinute: number
  /** Three letters of the currency (ISO 4217). */
  readonly currency: string
}

/** Parses the price of an hour, like `0.12` or `0.12EUR`. */
export function hourPriceOption(text: string): Price {
  const [, number = '', currency = 'USD'] = /^(\d+(?:\.\d+)?) ?([A-Z]{3})?$/.exec(text) ?? []
  if (number === '') throw new InvalidArgumentError('The value must be a price like 0.12 or 0.12EUR.')
  return { perMinute: Number(number) / 60, currency }
}

/** A span of time. Both ends are milliseconds since the beginning of the crowd. */
export interface TimeSpan {
  readonly fromMs: number
  readonly toMs: number
}

/** Parses an option like `10m..70m`. */
export function spanOption(text: string): TimeSpan {
  const [from = '', to = '', ...more] = text.split('..')
  const [fromMs, toMs] = [durationMs(from), durationMs(to)]
  if (fromMs === undefined || toMs === undefined || more.length > 0 || fromMs >= toMs)
    throw new InvalidArgumentError('The value must be a range of times in the recording, like 10m..70m.')
  return { fromMs, toMs }
}

/** The progress of work on the standard error, with the estimated time of its end. */
type Progress = ReturnType<typeof createProgress>

/** Minimum milliseconds between two updates of the bar. */
const GAP_MS = 100
/** Share of the work, from 0 to 1, that must be done before the end is predicted. */
const TELLING = 0.02
const WIDTH = 24

export function createProgress({ draw, complain }: Terminal, clock: Clock) {
  const startedAt = clock.now()
  let drawnAt = -Infinity
  let latest = ''
  return {
    /** Shows the progress. @param share done share of all the work, from 0 to 1. */
    share: (share: number) => {
      const now = clock.now()
      if (draw === undefined || (now - drawnAt < GAP_MS && share < 1)) return
      drawnAt = now
      draw(`${barOf(share)} ${leftOf(share, now - startedAt)}${latest}`)
    },
    /** Reports a completed part: in the bar, or as a line if there is no bar. */
    part: (text: string) => {
      latest = ` · ${text}`
      if (draw === undefined) complain(text)
    },
    /** Removes the bar. */
    end: () => draw?.(''),
  }
}

/** Shows the progress of work until it ends. */
export async function withProgress<T>(terminal: Terminal, work: (progress: Progress) => Promise<T>): Promise<T> {
  const progress = createProgress(terminal, systemClock)
  try {
    return await work(progress)
  } finally {
    progress.end()
  }
}

function barOf(share: number): string {
  const full = Math.round(share * WIDTH)
  const percent = String(Math.floor(share * 100)).padStart(3)
  return `${'█'.repeat(full)}${'░'.repeat(WIDTH - full)} ${percent} %`
}

function leftOf(share: number, elapsedMs: number): string {
  if (share < TELLING) return '· …'
  const seconds = Math.ceil((elapsedMs * (1 - share)) / share / 1000)
  const minutes = Math.floor(seconds / 60)
  return minutes === 0 ? `· ${seconds} s left` : `· ${minutes} min ${seconds % 60} s left`
}

interface Signals {
  once(name: 'SIGINT', listener: () => void): unknown
  off(name: 'SIGINT', listener: () => void): unknown
}

/**
 * Runs work that stops once `signal` aborts, which Ctrl-C causes. Resolves with undefined if it was interrupted.
 * @param signals default: those of the process.
 */
export async function interruptible<T>(
  work: (signal: AbortSignal) => Promise<T>,
  signals: Signals = process,
): Promise<T | undefined> {
  const ending = new AbortController()
  const end = () => ending.abort(new Error('Ctrl-C ended the run'))
  signals.once('SIGINT', end)
  try {
    return await work(ending.signal)
  } catch (error) {
    if (ending.signal.aborted) return undefined
    throw error
  } finally {
    signals.off('SIGINT', end)
  }
}
