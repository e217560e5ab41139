import { networkInterfaces } from 'node:os'
import type { Clock } from '@muster/core/clock'
import { scrub } from '@muster/core/internal'
import type { Matchmaker, MatchmakerEvents, ServerFailure } from '@muster/matchmaker'
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
type Fields = Readonly<Record<string, string | number | boolean | undefined | readonly string[]>>

/**
 * Writes lines. Texts and values are written without the program's secrets, and without addresses other than those of
 * this machine.
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
    setLevel: (next) => {
      logger.level = next
    },
  }
}

/** Synchronously where the system does that: files, terminals, and pipes on POSIX. */
const writeOut = (line: string): void => void process.stdout.write(line)

/** Where this machine listens: an operator reads them in the configuration too. */
function ownAddresses(): ReadonlySet<string> {
  const always = ['127.0.0.1', '::1', '0.0.0.0', '::']
  try {
    const ofInterfaces = Object.values(networkInterfaces()).flatMap((list = []) => list.map(({ address }) => address))
    return new Set([...always, ...ofInterfaces])
  } catch {
    // A sandbox may forbid to list them (AF_NETLINK). Then lines hide the addresses of this machine too.
    return new Set(always)
  }
}

/** Writes what went wrong: each kind at once, and then how often it came again. */
export type ProblemLog = ReturnType<typeof createProblemLog>

/** Milliseconds in which the same problem is one line and a count (our choice). */
const WINDOW_MS = 10_000
/** Kinds of problems in such a window; of further ones only the number is written (our choice). */
const MOST_KINDS = 50

/** Bounded by itself, however many problems there are: a line for each kind, and a count of it, per window. */
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
    /** @param during what was being done, e.g. `create`. Texts that differ in ids and numbers are of one kind. */
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
    /** Writes what is still counted, and ends. */
    close: async () => {
      ending.abort()
      await counting
    },
  }
}

/** What somebody must look at: records are lost. By name, since a process without Redis does not load its errors. */
const isSevere = (error: unknown) => error instanceof Error && error.name === 'RecordsVanished'

/** Characters by which problems of one kind are told: more would let a long text take time and memory. */
const KIND_LENGTH = 500

/** The text without ids and numbers, by which problems of one kind differ. In linear time. */
export const kindOf = (text: string) =>
  text.slice(0, KIND_LENGTH).replaceAll(/[\w-]+/g, (word) => (/\d/.test(word) ? '#' : word))

/** A name and a message. Errors with a message of their own class say what to do; a stack tells an operator nothing. */
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

/** @param detail what the service says of it */
export const failureText = (reason: ServerFailure, detail: string | undefined): string =>
  detail === undefined ? `${failed[reason]}.` : `${failed[reason]}: ${detail}.`

/** Writes problems, bounded by `problems`, and single matches at the level `debug`. Of players, how many. */
export function logEvents(on: Matchmaker['on'], log: Log, problems: ProblemLog): void {
  /** @param fields of the event that the line has */
  const debug = <Name extends keyof MatchmakerEvents, Field extends string & keyof MatchmakerEvents[Name]>(
    name: Name,
    text: string,
    ...fields: readonly Field[]
  ) => on(name, (event) => log.debug(text, Object.fromEntries(fields.map((field) => [field, event[field] as Value]))))
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
