import { networkInterfaces } from 'node:os'
import { scrub } from '@muster/core/internal'
import { pino } from 'pino'

/** `{"level":"info","time":"…","text":"listening","url":"…"}` as `12:00:01 info  listening  url=…`. */
export function textLine(json: string): string {
  const { level, time, text, ...fields } = JSON.parse(json) as Readonly<Record<string, unknown>>
  const clock = String(time).slice(11, 19)
  const rest = Object.entries(fields).map(([key, value]) => `  ${key}=${wordOf(value)}`)
  return `${clock} ${String(level).padEnd(5)} ${oneLine(String(text))}${rest.join('')}\n`
}

/** Quoted where it would not be one word, so that no value can look like another field or line. */
function wordOf(value: unknown): string {
  const text = Array.isArray(value) ? value.join(',') : value
  const word = typeof text === 'string' ? text : JSON.stringify(text)
  return /^[^\s"=]+$/.test(word) && !COMMANDS.test(word) ? word : quoted(word)
}

/** A terminal obeys control characters, and shows text in another order by format characters. */
const COMMANDS = /[\p{Cc}\p{Cf}\u2028\u2029]/u

const oneLine = (text: string) => (COMMANDS.test(text) ? quoted(text) : text)

const quoted = (text: string) =>
  JSON.stringify(text).replaceAll(new RegExp(COMMANDS, 'gu'), (character) =>
    [...character].map((one) => `\\u{${(one.codePointAt(0) ?? 0).toString(16)}}`).join(''),
  )

type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent'

/** What a line says besides its text: plain values. */
export type Fields = Readonly<Record<string, string | number | boolean | undefined | readonly string[]>>

/**
 * Writes lines. Texts and values are written without the program's secrets, and without addresses other than those of
 * this machine.
 */
export interface Log {
  debug(text: string, fields?: Fields): void
  info(text: string, fields?: Fields): void
  warn(text: string, fields?: Fields): void
  error(text: string, fields?: Fields): void
  /** Whether lines of the level are written: what a line needs can be spared otherwise. */
  writes(level: Exclude<LogLevel, 'silent'>): boolean
  setLevel(level: LogLevel): void
}

export interface LogOptions {
  readonly level: LogLevel
  /** One JSON object a line, or text for people. */
  readonly format: 'json' | 'text'
  /** Where lines are written. Default: the standard output, before the call returns: none is lost at the end. */
  readonly write?: ((line: string) => void) | undefined
  /** The secrets of the program as it is configured now. */
  readonly secrets?: (() => readonly string[]) | undefined
}

type Value = Fields[string]

export function createLog({ level, format, write = writeOut, secrets = () => [] }: LogOptions): Log {
  const destination = { write: format === 'json' ? write : (line: string) => write(textLine(line)) }
  const logger = pino(
    {
      level,
      base: null,
      messageKey: 'text',
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
    },
    destination,
  )
  const own = ownAddresses()
  const clean = (text: string) => scrub(text, secrets(), own)
  const cleanValue = (value: Value): Value => {
    if (typeof value === 'string') return clean(value)
    return typeof value === 'object' ? value.map(clean) : value
  }
  const line =
    (to: Exclude<LogLevel, 'silent'>) =>
    (text: string, fields: Fields = {}) => {
      if (!logger.isLevelEnabled(to)) return
      const cleaned = Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, cleanValue(value)]))
      logger[to](cleaned, clean(text))
    }
  return {
    debug: line('debug'),
    info: line('info'),
    warn: line('warn'),
    error: line('error'),
    writes: (wanted) => logger.isLevelEnabled(wanted),
    setLevel: (next) => {
      logger.level = next
    },
  }
}

/** Synchronously where the system does that: files, terminals, and pipes on POSIX. */
const writeOut = (line: string): void => void process.stdout.write(line)

/** Where this machine listens: an operator reads them in the configuration too. */
const ownAddresses = (): ReadonlySet<string> => {
  const ofInterfaces = Object.values(networkInterfaces()).flatMap((list = []) => list.map(({ address }) => address))
  return new Set(['127.0.0.1', '::1', '0.0.0.0', '::', ...ofInterfaces])
}
