import { networkInterfaces } from 'node:os'
import type { Clock } from '@muster/core/clock'
import { scrub } from '@muster/core/internal'
import type { Matchmaker, MatchmakerEvents, ServerFailure } from '@muster/matchmaker'
import { pino } from 'pino'

/** `{"level":"info","time":"…","text":"listening","url":"…"}` becomes `12:00:01 info  listening  url=…`. */
export function textLine(json: string): string {
  const { level, time, text, ...fields } = JSON.parse(json) as Readonly<Record<string, unknown>>
  const clock = String(time).slice(11, 19)
  const rest = Object.entries(fields).map(([key, value]) => `  ${key}=${wordOf(value)}`)
  return `${clock} ${String(level).padEnd(5)} ${oneLine(String(text))}${rest.join('')}\n`
}

/** Quoted if it is not a single word, so that a value cannot look like another field or line. */
function wordOf(value: unknown): string {
  const text = Array.isArray(value) ? value.join(',') : value
  const word = typeof text === 'string' ? text : JSON.stringify(text)
  return /^[^\s"=]+$/.test(word) && !COMMANDS.test(word) ? word : quoted(word)
}

/** Terminals execute control characters, and format characters change the order of text. */
const COMMANDS = /[\p{Cc}\p{Cf}\u2028\u2029]/u

const oneLine = (text: string) => (COMMANDS.test(text) ? quoted(text) : text)

const quoted = (text: string) =>
  JSON.stringify(text).replaceAll(new RegExp(COMMANDS, 'gu'), (character) =>
    [...character].map((one) => `\\u{${(one.codePointAt(0) ?? 0).toString(16)}}`).join(''),
  )

type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent'

/** The fields of a log line besides its text: plain values. */
type Fields = Readonly<Record<string, string | number | boolean | undefined | readonly string[]>>

/**
 * Writes log lines. Texts and values are written without the program's secrets, and without addresses other than those
 * of this machine.
 */
export interface Log {
  debug(text: string, fields?: Fields): void
  info(text: string, fields?: Fields): void
  warn(text: string, fields?: Fields): void
  error(text: string, fields?: Fields): void
  setLevel(level: LogLevel): void
}

export interface LogOptions {
  readonly level: LogLevel
  /** One JSON object per line, or readable text. */
  readonly format: 'json' | 'text'
  /** Writes a line. Default: to the standard output, before the call returns, so that none is lost at the end. */
  readonly write?: ((line: string) => void) | undefined
  /** The secrets of the current configuration. */
  readonly secrets?: (() => readonly string[]) | undefined
}

type FieldValue = Fields[string]

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
  const cleanValue = (value: FieldValue): FieldValue => {
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
    setLevel: (next) => {
      logger.level = next
    },
  }
}

/** Synchronous where the system allows it: files, terminals, and pipes on POSIX. */
const writeOut = (line: string): void => void process.stdout.write(line)

/** The addresses of this machine. They are not secret, because the operator has configured them. */
function ownAddresses(): ReadonlySet<string> {
  const always = ['127.0.0.1', '::1', '0.0.0.0', '::']
  try {
    const ofInterfaces = Object.values(networkInterfaces()).flatMap((list = []) => list.map(({ address }) => address))
    return new Set([...always, ...ofInterfaces])
  } catch {
    // A sandbox may forbid listing them (AF_NETLINK). Then log lines hide the addresses of this machine too.
    return new Set(always)
  }
}

/** Logs problems: the first of each kind immediately, and then the number of repetitions. */
export type ProblemLog = ReturnType<typeof createProblemLog>

/** Milliseconds in which the same problem is one line and a count (our choice). */
const WINDOW_MS = 10_000
/** Maximum number of kinds of problems in a window. Of further kinds only the number is logged (our choice). */
const MOST_KINDS = 50

/**
 * Creates a log of limited size, however many problems there are: per window a line for each kind, and a count of it.
 */
export function createProblemLog(log: Log, clock: Clock) {
  const kinds = new Map<string, { readonly during: string; readonly text: string; count: number }>()
  const ending = new AbortController()
  let others = 0
  let counting: Promise<void> | undefined

  const flush = () => {
    for (const { during, text, count } of kinds.values())
      if (count > 1) log.warn(`${text.replace(/\.$/, '')} (${count - 1} more times)`, { during })
    if (others > 0) log.warn(`${others} other problems occurred; they are not listed.`)
    kinds.clear()
    others = 0
    counting = undefined
  }

  return {
    /**
     * Groups messages that differ only in ids and numbers: logs the first at once, and the number of repetitions later.
     * @param during the activity, e.g. `create`.
     */
    report: (during: string, error: unknown, fields?: Fields) => {
      const text = textOf(error)
      const key = `${during} ${kindOf(text)}`
      counting ??= clock
        .sleep(WINDOW_MS, ending.signal)
        .catch(() => {})
        .then(flush)
      const known = kinds.get(key)
      if (known !== undefined) known.count += 1
      else if (kinds.size >= MOST_KINDS) others += 1
      else {
        kinds.set(key, { during, text, count: 1 })
        log[isSevere(error) ? 'error' : 'warn'](text, { during, ...fields })
      }
    },
    /** Logs the remaining counts and stops. */
    close: async () => {
      ending.abort()
      await counting
    },
  }
}

/**
 * True for problems that somebody must look at: records are lost. Compared by name, because a process without Redis
 * does not load its errors.
 */
const isSevere = (error: unknown) => error instanceof Error && error.name === 'RecordsVanished'

/** Number of characters that identify a kind of problem: with more, a long message would take time and memory. */
const KIND_LENGTH = 500

/** The message without ids and numbers, which differ among problems of one kind. In linear time. */
export const kindOf = (text: string) =>
  text.slice(0, KIND_LENGTH).replaceAll(/[\w-]+/g, (word) => (/\d/.test(word) ? '#' : word))

/** A name and a message. Errors of our own classes name a remedy; a stack trace does not help an operator. */
function textOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.name === 'Error' ? error.message : `${error.name}: ${error.message}`
}

const failed: Readonly<Record<ServerFailure, string>> = {
  failed: 'A game server failed before it was READY',
  'too-slow': 'A game server was not READY within the readyTimeoutMs of its queue',
  'not-listening': 'A game server was READY but did not listen, by the probe of its queue',
  crashed: 'A game server crashed while players were on it',
}

/** @param detail the service's description */
export const failureText = (reason: ServerFailure, detail: string | undefined): string =>
  detail === undefined ? `${failed[reason]}.` : `${failed[reason]}: ${detail}.`

/**
 * Logs problems, limited by `problems`, and single matches at the level `debug`. Of players it logs only the number.
 */
export function logEvents(on: Matchmaker['on'], log: Log, problems: ProblemLog): void {
  /** @param fields fields of the event for the log line */
  const debug = <Name extends keyof MatchmakerEvents, Field extends string & keyof MatchmakerEvents[Name]>(
    name: Name,
    text: string,
    ...fields: readonly Field[]
  ) =>
    on(name, (event) => log.debug(text, Object.fromEntries(fields.map((field) => [field, event[field] as FieldValue]))))
  on('problem', ({ during, matchId, requestId, error }) => problems.report(during, error, { matchId, requestId }))
  on('deploymentFailed', ({ reason, detail, matchId, requestId }) =>
    problems.report('server', failureText(reason, detail), { matchId, requestId }),
  )
  on('serverLogs', ({ logs, matchId, requestId }) =>
    problems.report('server', 'A server that failed wrote at its end what is in `logs`.', { matchId, requestId, logs }),
  )
  on('orphanStopped', ({ requestId }) =>
    problems.report('reap', 'A server that belonged to no match was stopped.', { requestId }),
  )
  on('serverLost', ({ serverId, pool, requestId, silentMs }) => {
    const text = `A game server was silent for ${Math.round(silentMs / 1000)} s. Its status is read.`
    problems.report('server', text, { serverId, pool, requestId })
  })
  on('serverReturned', ({ serverId, requestId }) => log.info('game server heard again', { serverId, requestId }))
  debug('serverDraining', 'game server drains', 'serverId', 'pool', 'requestId', 'reason')
  debug('serverRegistered', 'game server registered', 'serverId', 'pool', 'requestId', 'build')
  debug('serverTaken', 'game server taken', 'matchId', 'serverId', 'pool', 'warm')
  debug('serverFreed', 'game server freed', 'matchId', 'serverId', 'pool', 'reason')
  on('matchFound', ({ matchId, queue, tickets }) =>
    log.debug('match found', { matchId, queue, tickets: tickets.length }),
  )
  debug('deploymentCreated', 'server requested', 'matchId', 'requestId')
  debug('serverAssigned', 'players were sent', 'matchId', 'queue', 'requestId')
  debug('deploymentStopped', 'server stopped', 'matchId', 'requestId', 'reason')
}
