import { networkInterfaces } from 'node:os'
import type { Clock } from '@muster/core/clock'
import { scrub } from '@muster/core/internal'
import type { Matchmaker, MatchmakerEvents, ServerFailure } from '@muster/matchmaker'
import { pino } from 'pino'

/**
 * Returns a JSON line as readable text: `{"level":"info","time":"…","text":"listening","url":"…"}` becomes `12:00:01
 * info  listening  url=…`.
 */
export function textLine(json: string): string {
  const { level, time, text, ...fields } = JSON.parse(json) as Readonly<Record<string, unknown>>
  const clock = String(time).slice(11, 19)
  const rest = Object.entries(fields).map(([key, value]) => `  ${key}=${wordOf(value)}`)
  return `${clock} ${String(level).padEnd(5)} ${oneLine(String(text))}${rest.join('')}\n`
}

/**
 * Returns a value as text. It is quoted unless it is a single word, so that it cannot look like another field or line.
 */
function wordOf(value: unknown): string {
  const text = Array.isArray(value) ? value.join(',') : value
  const word = typeof text === 'string' ? text : JSON.stringify(text)
  return /^[^\s"=]+$/.test(word) && !COMMANDS.test(word) ? word : quoted(word)
}

/** Matches control characters, which terminals execute, and format characters, which change the order of text. */
const COMMANDS = /[\p{Cc}\p{Cf}\u2028\u2029]/u

const oneLine = (text: string) => (COMMANDS.test(text) ? quoted(text) : text)

const quoted = (text: string) =>
  JSON.stringify(text).replaceAll(new RegExp(COMMANDS, 'gu'), (character) =>
    [...character].map((one) => `\\u{${(one.codePointAt(0) ?? 0).toString(16)}}`).join(''),
  )

type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent'

/** The fields of a log line besides its text. Their values are plain. */
type Fields = Readonly<Record<string, string | number | boolean | undefined | readonly string[]>>

/**
 * Writes log lines. Secrets of the program, and addresses other than those of this machine, are removed from texts and
 * values.
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
  /** `json` writes one JSON object in each line, `text` readable text. */
  readonly format: 'json' | 'text'
  /**
   * Writes a line. By default it is on the standard output when the call returns, so that no line is lost when the
   * process ends.
   */
  readonly write?: ((line: string) => void) | undefined
  /** Returns the secrets of the current configuration, which lines must not contain. */
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

/** Writes to the standard output. The write is synchronous for files, terminals, and pipes on POSIX. */
/** True if the last line was not written, e.g. to a full disk. The output may then end within a line. */
let isCut = false

const writeOut = (line: string): void =>
  void process.stdout.write(isCut ? `\n${line}` : line, (error) => {
    isCut = error instanceof Error
  })

/** Returns the addresses of this machine. They may be logged, because the operator has configured them. */
function ownAddresses(): ReadonlySet<string> {
  const always = ['127.0.0.1', '::1', '0.0.0.0', '::']
  try {
    const ofInterfaces = Object.values(networkInterfaces()).flatMap((list = []) => list.map(({ address }) => address))
    return new Set([...always, ...ofInterfaces])
  } catch {
    // A sandbox may forbid listing the addresses (AF_NETLINK). Log lines then hide the addresses of this machine too.
    return new Set(always)
  }
}

/** Logs the first problem of each kind immediately, and later how often it occurred again. */
export type ProblemLog = ReturnType<typeof createProblemLog>

/** Milliseconds within which problems of the same kind become one line and a count (our choice). */
const WINDOW_MS = 10_000
/** Maximum number of kinds of problems in a window (our choice). Of further kinds only the total is logged. */
const MOST_KINDS = 50

/**
 * Creates a log of problems whose size is limited. In each window a kind of problem has one line and one count, however
 * often it occurs.
 */
export function createProblemLog(log: Log, clock: Clock) {
  const kinds = new Map<string, { readonly text: string; readonly about: Fields; count: number }>()
  const ending = new AbortController()
  let others = 0
  let counting: Promise<void> | undefined

  const flush = () => {
    for (const { text, about, count } of kinds.values())
      if (count > 1) log.warn(`${text.replace(/\.$/, '')} (${count - 1} more times)`, about)
    if (others > 0) log.warn(`${others} other problems occurred; they are not listed.`)
    kinds.clear()
    others = 0
    counting = undefined
  }

  return {
    /**
     * Reports a problem. Messages that differ only in ids and numbers are one kind: the first is logged at once, and
     * the number of repetitions later. Problems of two sources of servers are of two kinds.
     * @param during the activity, e.g. `create`.
     */
    report: (during: string, error: unknown, fields?: Fields) => {
      const text = textOf(error)
      const about = { during, ...(fields?.['source'] !== undefined && { source: fields['source'] }) }
      const key = `${Object.values(about).join(' ')} ${kindOf(text)}`
      counting ??= clock
        .sleep(WINDOW_MS, ending.signal)
        .catch(() => {})
        .then(flush)
      const known = kinds.get(key)
      if (known !== undefined) known.count += 1
      else if (kinds.size >= MOST_KINDS) others += 1
      else {
        kinds.set(key, { text, about, count: 1 })
        log[isSevere(error) ? 'error' : 'warn'](text, { ...about, ...fields })
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
 * Returns true for the problem that records were lost, which an operator must act on. The error is compared by name,
 * because a process without Redis does not load its class.
 */
const isSevere = (error: unknown) => error instanceof Error && error.name === 'RecordsVanished'

/** Number of characters that identify a kind of problem. Longer texts would take time and memory. */
const KIND_LENGTH = 500

/** Returns a message without ids and numbers, which differ among problems of one kind. The time is linear. */
export const kindOf = (text: string) =>
  text.slice(0, KIND_LENGTH).replaceAll(/[\w-]+/g, (word) => (/\d/.test(word) ? '#' : word))

/**
 * Returns the name and the message of an error. The stack is omitted: the messages of Muster's errors name a remedy.
 */
function textOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.name === 'Error' ? error.message : `${error.name}: ${error.message}`
}

const failed: Readonly<Record<ServerFailure, string>> = {
  failed: 'A game server failed before it was READY',
  'too-slow': 'A game server was not READY within the readyTimeoutMs of its queue',
  'not-listening': 'A game server was READY but did not listen, by the probe of its queue or the knock of its key',
  crashed: 'A game server crashed while players were on it',
}

/** Returns a sentence about a failed game server. @param detail the service's description of the failure */
export const failureText = (reason: ServerFailure, detail: string | undefined): string =>
  detail === undefined ? `${failed[reason]}.` : `${failed[reason]}: ${detail}.`

/**
 * Logs problems through `problems`, which limits them, and single matches at the level `debug`. Of players only the
 * number is logged.
 */
export function logEvents(on: Matchmaker['on'], log: Log, problems: ProblemLog): void {
  /** Logs an event at the level `debug`. @param fields fields of the event for the log line */
  const debug = <Name extends keyof MatchmakerEvents, Field extends string & keyof MatchmakerEvents[Name]>(
    name: Name,
    text: string,
    ...fields: readonly Field[]
  ) =>
    on(name, (event) => log.debug(text, Object.fromEntries(fields.map((field) => [field, event[field] as FieldValue]))))
  on('problem', ({ during, source, matchId, requestId, error }) =>
    problems.report(during, error, { source, matchId, requestId }),
  )
  on('deploymentFailed', ({ reason, detail, matchId, requestId }) =>
    problems.report('server', failureText(reason, detail), { matchId, requestId }),
  )
  on('serverLogs', ({ logs, matchId, requestId }) =>
    problems.report('server', 'A server failed; the end of its output is in `logs`.', { matchId, requestId, logs }),
  )
  on('orphanStopped', ({ requestId }) =>
    problems.report('reap', 'A server that belonged to no match was stopped.', { requestId }),
  )
  on('serverLost', ({ serverId, pool, requestId, silentMs }) => {
    const text = `A game server was silent for ${Math.round(silentMs / 1000)} s. Its status is read.`
    problems.report('server', text, { serverId, pool, requestId })
  })
  on('serverReturned', ({ serverId, requestId }) => log.info('game server reports again', { serverId, requestId }))
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
