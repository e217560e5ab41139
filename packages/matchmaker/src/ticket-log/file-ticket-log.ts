import { InvalidInput } from '@muster/core'
import type { Clock } from '@muster/core/clock'
import { MatchmakerClosed, Unavailable } from '../errors.js'
import type { JournalLock } from '@muster/servers'
import { liveParts } from './live-parts.js'
import type { LogDamaged } from './log-errors.js'
import type { LogFile } from './log-file.js'
import { linesOf, LOG_HEADER, logLine, type LogRecord, type Op } from './log-lines.js'
import type { LogOwner, LogRecords, TicketLog } from './ticket-log.js'

export interface FileTicketLogOptions {
  readonly path: string
  readonly fsync: 'always' | 'every-second' | 'never'
  readonly compactAtBytes: number
  readonly clock: Pick<Clock, 'now'>
  readonly lock: JournalLock
  readonly file: Pick<LogFile, 'size' | 'append' | 'force' | 'replace' | 'place' | 'close'>
  /** What was read: by kind, and by key. */
  readonly stored: ReadonlyMap<string, ReadonlyMap<string, LogRecord>>
  readonly damage: LogDamaged | undefined
}

/** Growth since the last rewrite, as a factor, at which the file is rewritten. */
const GROWTH = 3
/** Milliseconds from a failure to the next attempt, and between two looks at the file. */
const EVERY_MS = 1000
/**
 * Characters of lines that are kept while they cannot be written. Beyond, they are dropped, and the whole file is
 * rewritten instead (our choice).
 */
const MOST_PENDING = 2 ** 23
/** The kind of the one record that tells whose log it is. */
const NAME = 'name'

/** The log in a file that is open, and locked. */
export function createFileTicketLog(options: FileTicketLogOptions): TicketLog {
  const { path, fsync, compactAtBytes, clock, lock, file, damage } = options
  const isForced = fsync === 'always'
  /** The records of each kind as they are now: those that were read, until they are somebody's. */
  const sources = new Map<string, () => Iterable<LogRecord>>()
  const stored = new Map(options.stored)
  for (const [kind, records] of stored) sources.set(kind, () => records.values())

  let owner: LogOwner | undefined
  /** Lines that are not written yet. */
  let pending: string[] = []
  let pendingSize = 0
  let isScheduled = false
  /** Since the last attempt to write failed: when to try again, in epoch milliseconds. */
  let retryAt: number | undefined
  /** Whether the file does not tell everything, so that it must be replaced before anything is appended. */
  let isLacking = false
  /** While the file is rewritten: the lines since that began. */
  let tail: string[] | undefined
  let nextCompactAt = damage === undefined ? compactAtBytes : 0
  let lookAt = 0
  let isDamageTold = false
  let working: Promise<void> | undefined
  let isClosed = false

  const failed = (error: unknown) => {
    retryAt = clock.now() + EVERY_MS
    owner?.problem(error)
  }
  /** A clock that was set back must not put off what is due. */
  const isTime = (at: number, now: number) => now >= at || now < at - EVERY_MS
  const mayTry = () => retryAt === undefined || (!isLacking && isTime(retryAt, clock.now()))

  /** Appends what is pending and one more line. Returns why nothing was written, if so. */
  const append = (line: string): Unavailable | undefined => {
    const unavailable = (cause?: unknown) =>
      new Unavailable(`the ticket log cannot be written to: ${path}`, { retryAfterMs: EVERY_MS, cause })
    if (!mayTry()) return unavailable()
    try {
      file.append((file.size() === 0 ? LOG_HEADER : '') + pending.join('') + line, isForced)
    } catch (error) {
      failed(error)
      return unavailable(error)
    }
    written()
    return undefined
  }
  const written = () => {
    retryAt = undefined
    pending = []
    pendingSize = 0
  }

  const flush = () => {
    isScheduled = false
    if (pending.length > 0 && !isClosed) append('')
  }

  const push = (line: string) => {
    if (isClosed) return
    tail?.push(line)
    pending.push(line)
    pendingSize += line.length
    if (pendingSize > MOST_PENDING) {
      isLacking = true
      retryAt ??= clock.now()
      pending = []
      pendingSize = 0
    }
    if (isScheduled) return
    isScheduled = true
    queueMicrotask(flush)
  }

  const write = (line: string) => {
    if (isClosed) throw new MatchmakerClosed('the ticket log is closed')
    const unavailable = append(line)
    if (unavailable !== undefined) throw unavailable
    tail?.push(line)
  }

  const takeTail = () => {
    const lines = tail?.join('') ?? ''
    tail &&= []
    return lines
  }

  const rewrite = async (): Promise<void> => {
    // If it fails, it is not repeated before the file has grown again, unless the file lacks something.
    nextCompactAt = Math.max(compactAtBytes, file.size() * GROWTH)
    tail = []
    const replaced = () => {
      isLacking = false
      nextCompactAt = Math.max(compactAtBytes, file.size() * GROWTH)
      written()
    }
    try {
      const forced = { parts: fsync !== 'never', rest: isForced }
      await file.replace(liveParts(sources, takeTail), { rest: takeTail, replaced }, forced)
    } finally {
      tail = undefined
    }
  }

  /** Looks after the file: somebody may have removed it, or it may have grown. */
  const look = async (): Promise<void> => {
    const place = await file.place()
    if (place === 'taken' || (place === 'missing' && !(await lock.isInPlace()))) {
      isLacking = true
      const message = `the ticket log ${path} was replaced by another file while it was open`
      throw new Error(`${message}: it is another process's now`)
    }
    if (place === 'missing' || isLacking || file.size() >= nextCompactAt) await rewrite()
    else if (fsync === 'every-second') await file.force()
  }

  const advance = async (): Promise<void> => {
    const now = clock.now()
    if (isClosed || !isTime(lookAt, now)) return
    lookAt = now + EVERY_MS
    if (damage !== undefined && !isDamageTold) owner?.problem(damage)
    isDamageTold = true
    // If there is nothing to write, a line that changes nothing finds out whether it can be written again.
    if (retryAt !== undefined && pending.length === 0) push(ownLine())
    flush()
    await look().catch((error: unknown) => (isLacking ? failed(error) : owner?.problem(error)))
  }

  const ownLine = () => logLine(NAME, '=', owner?.name ?? '', '{}')

  return {
    path,
    isFailing: () => retryAt !== undefined,
    attach: (given) => {
      if (owner !== undefined) throw new InvalidInput(`option ticketLog: is another matchmaker's already: ${path}`)
      const [named] = stored.get(NAME)?.keys() ?? []
      if (named !== undefined && named !== given.name) {
        const message = `option ticketLog: is that of the matchmaker ${JSON.stringify(named)}, and not of`
        throw new InvalidInput(`${message} ${JSON.stringify(given.name)}: ${path}`, { field: 'ticketLog' })
      }
      owner = given
      sources.set(NAME, () => [{ key: given.name, value: '{}' }])
      if (named === undefined) push(ownLine())
    },

    records: (kind, live): LogRecords => {
      if (!/^[a-z]+(-[a-z]+)*$/.test(kind)) throw new Error(`no kind of records: ${kind}`)
      let before = stored.get(kind)
      stored.delete(kind)
      sources.set(kind, live)
      const line = (op: Op, key: string, value: string) => logLine(kind, op, key, value)
      return {
        stored: () => {
          const all = [...(before?.values() ?? [])]
          before = undefined
          return all
        },
        write: (all) => write(all.map((one) => linesOf(kind, one)).join('')),
        put: (key, value) => push(line('=', key, value)),
        change: (key, change) => push(line('~', key, change)),
        remove: (key) => push(line('-', key, '')),
      }
    },

    flush,
    advance: () => (working ??= advance().finally(() => (working = undefined))),
    isClosed: () => isClosed,
    close: async () => {
      if (isClosed) return
      await working
      // The last attempt.
      retryAt = undefined
      if (isLacking) await look().catch(failed)
      else flush()
      isClosed = true
      try {
        if (fsync !== 'never') await file.force()
      } finally {
        await file.close()
        await lock.release()
      }
    },
  }
}
