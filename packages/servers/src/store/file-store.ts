import { resolve } from 'node:path'
import { InvalidInput } from '@muster/core'
import { systemClock, type Clock } from '@muster/core/clock'
import { read } from '@muster/core/internal'
import { z } from 'zod'
import { MatchmakerClosed, StoreLocked, StoreTorn, Unavailable } from '../errors.js'
import { takeLock, type LockedFile, type StoreLock } from './flock.js'
import type { Store, StoreChange, StoreOwner, StoreRecords } from './store.js'
import { readIfThere, StoreFile } from './store-file.js'
import {
  FORCED_LINE,
  HEADER,
  lineOf,
  linesOf,
  readStore,
  wholeFile,
  type ReadTerms,
  type RecordsByKind,
  type StoreRecord,
} from './store-format.js'

export interface StoreOptions {
  /**
   * Path of the file, in an existing folder. Beside it are `<path>.lock` while the store is open, and `<path>.new`
   * while the file is rewritten. All are readable by their user only.
   */
  readonly path: string
  /**
   * What a power failure can lose. The end of the process, even by kill -9, loses nothing with any choice: the
   * operating system has a ticket before `createTicket` returns.
   * - `always`: nothing. Each write waits for the disk, and with it the whole process: for few tickets a second;
   * - `every-second` (default): the last second or two;
   * - `never`: as much as the operating system has not written yet, some 30 seconds on Linux.
   */
  readonly fsync?: 'always' | 'every-second' | 'never' | undefined
  /**
   * Smallest size in bytes at which the file is rewritten without records that ended. Above it, the file is rewritten
   * whenever it has grown to three times its size after the last rewrite. Default 4 MiB.
   */
  readonly compactAtBytes?: number | undefined
  readonly clock?: Clock | undefined
}

const schema = z.strictObject({
  path: z.string().min(1),
  fsync: z.enum(['always', 'every-second', 'never']).default('every-second'),
  compactAtBytes: z
    .int()
    .min(1)
    .default(2 ** 22),
  clock: z.custom<Clock>((value) => typeof Reflect.get(Object(value), 'now') === 'function').default(systemClock),
})

/**
 * Opens the store of a matchmaker, and reads what an earlier process has left in it; see the option `ticketLog`.
 * flock(2) admits one process at a time. A ticket log of an earlier version is taken over.
 * @throws {InvalidInput} naming the option and the value; {StoreLocked} while another process has the file open;
 *   {StoreCorrupt} if the file is something else, or of another version
 */
export async function openStore(options: StoreOptions): Promise<Store> {
  const config = read(schema, options, (field, message) => new InvalidInput(`option ${message}`, { field }))
  return openFileStore({ ...config, what: 'store', growth: 3, isStrict: false })
}

/** How a file is opened: {@link openStore} for tickets, a journal for servers. */
export interface FileStoreTerms extends Omit<ReadTerms, 'what'> {
  readonly what: LockedFile
  readonly fsync: 'always' | 'every-second' | 'never'
  readonly compactAtBytes: number
  /** Growth since the last rewrite, as a factor, at which the file is rewritten. */
  readonly growth: number
  readonly clock: Pick<Clock, 'now'>
}

/** Locks a file and reads it. @throws {StoreLocked} | {StoreCorrupt} */
export async function openFileStore(terms: FileStoreTerms): Promise<FileStore> {
  const { what } = terms
  const path = resolve(terms.path)
  const lock = await takeLock(`${path}.lock`, undefined, what)
  try {
    const bytes = await readIfThere(path, what)
    const { records, goodBytes, damage, isStale } = readStore(bytes, { ...terms, path })
    const file = await StoreFile.open(path, isStale ? bytes.length : goodBytes)
    const torn = damage && new StoreTorn(what, path, damage)
    const store = createFileStore({ ...terms, path, lock, file, stored: records, damage: torn })
    try {
      // Lines after damage that a crash explains would make it unexplained, and an older version cannot be appended to.
      if (isStale) await store.rewrite()
    } catch (error) {
      await file.close()
      throw error
    }
    return store
  } catch (error) {
    await lock.release()
    throw error
  }
}

/** A store in a file, for what is stored by more than its turn of the event loop. */
export interface FileStore extends Store {
  /** What was lost when the file was read. */
  readonly damage: StoreTorn | undefined
  /**
   * Looks after the file: writes it again if it was removed or lacks something, and rewrites one that has grown.
   * @throws {StoreLocked} if another file has taken its place
   */
  look(): Promise<void>
  /** Writes the file anew, with what is live. */
  rewrite(): Promise<void>
  /** Resolves once all that was written is on the disk. */
  force(): Promise<void>
}

export interface FileStoreOptions extends Omit<FileStoreTerms, 'isStrict'> {
  readonly lock: StoreLock
  readonly file: Pick<StoreFile, 'size' | 'isForced' | 'append' | 'force' | 'replace' | 'place' | 'close'>
  /** What was read. */
  readonly stored: RecordsByKind
  readonly damage: StoreTorn | undefined
}

/** Milliseconds from a failure to the next attempt, and between two looks at the file. */
const EVERY_MS = 1000
/**
 * Characters of lines that are kept while they cannot be written. Beyond, they are dropped, and the whole file is
 * rewritten instead (our choice).
 */
const MOST_PENDING = 2 ** 23
/** The kind of the one record that tells whose store it is. */
const NAME = 'name'

/** The store in a file that is open, and locked. */
export function createFileStore(options: FileStoreOptions): FileStore {
  const { path, what, fsync, compactAtBytes, growth, clock, lock, file, damage } = options
  const isForced = fsync === 'always'
  /** The records of each kind as they are now: those that were read, until they are somebody's. */
  const sources = new Map<string, () => Iterable<StoreRecord>>()
  const stored = new Map(options.stored)
  for (const [kind, records] of stored) sources.set(kind, () => records.values())

  let owner: StoreOwner | undefined
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
  let nextCompactAt = compactAtBytes
  /** The size of the file after the last line that says that all before it is on the disk. */
  let markedAt = 0
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

  /** Appends what is pending and some more lines. Returns why nothing was written, if so. */
  const append = (lines: string): Unavailable | undefined => {
    const unavailable = (cause?: unknown) =>
      new Unavailable(`the ${what} cannot be written to: ${path}`, { retryAfterMs: EVERY_MS, cause })
    if (!mayTry()) return unavailable()
    const isMarked = file.isForced() && file.size() > markedAt
    try {
      const before = file.size() === 0 ? HEADER : isMarked ? FORCED_LINE : ''
      file.append(before + pending.join('') + lines, isForced)
    } catch (error) {
      failed(error)
      return unavailable(error)
    }
    if (isMarked) markedAt = file.size()
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

  const write = (lines: string) => {
    if (isClosed) throw new MatchmakerClosed(`the ${what} is closed`)
    const unavailable = append(lines)
    if (unavailable !== undefined) throw unavailable
    tail?.push(lines)
  }

  const takeTail = () => {
    const lines = tail?.join('') ?? ''
    tail &&= []
    return lines
  }

  const rewrite = async (): Promise<void> => {
    // If it fails, it is not repeated before the file has grown again, unless the file lacks something.
    nextCompactAt = Math.max(compactAtBytes, file.size() * growth)
    tail = []
    const replaced = () => {
      isLacking = false
      nextCompactAt = Math.max(compactAtBytes, file.size() * growth)
      markedAt = 0
      written()
    }
    try {
      const forced = { parts: fsync !== 'never', rest: isForced }
      await file.replace(wholeFile(sources, takeTail), { rest: takeTail, replaced }, forced)
    } finally {
      tail = undefined
    }
  }

  const look = async (): Promise<void> => {
    const place = await file.place()
    if (place === 'taken' || (place === 'missing' && !(await lock.isInPlace()))) {
      isLacking = true
      const message = `the ${what} ${path} was replaced by another file while it was open`
      throw new StoreLocked(`${message}: it is another process's now`)
    }
    if (place === 'missing' || isLacking) await rewrite()
    else if (file.size() >= nextCompactAt) await rewrite().catch((error: unknown) => owner?.problem(error))
  }

  const advance = async (): Promise<void> => {
    const now = clock.now()
    if (isClosed || !isTime(lookAt, now)) return
    lookAt = now + EVERY_MS
    if (damage !== undefined && !isDamageTold) owner?.problem(damage)
    isDamageTold = true
    // If there is nothing to write, a line that changes nothing finds out whether it can be written again.
    if (retryAt !== undefined && pending.length === 0) push(lineOf(NAME, '-', '', ''))
    flush()
    try {
      await look()
      if (fsync === 'every-second') await file.force()
    } catch (error) {
      if (isLacking) failed(error)
      else owner?.problem(error)
    }
  }

  const ownLine = (name: string) => lineOf(NAME, '=', name, '{}')

  return {
    path,
    damage,
    look,
    rewrite,
    force: () => file.force(),
    isFailing: () => retryAt !== undefined,
    attach: (given) => {
      if (owner !== undefined) throw new InvalidInput(`option ticketLog: is another matchmaker's already: ${path}`)
      const [named] = stored.get(NAME)?.keys() ?? []
      const { name } = given
      if (named !== undefined && named !== name) {
        const message = `option ticketLog: is that of the matchmaker ${JSON.stringify(named)}, and not of`
        throw new InvalidInput(`${message} ${JSON.stringify(name)}: ${path}`, { field: 'ticketLog' })
      }
      owner = given
      if (name === undefined) return
      sources.set(NAME, () => [{ key: name, value: '{}' }])
      if (named === undefined) push(ownLine(name))
    },

    records: (kind, live): StoreRecords => {
      if (!/^[a-z]+(-[a-z]+)*$/.test(kind)) throw new Error(`no kind of records: ${kind}`)
      let before = stored.get(kind)
      stored.delete(kind)
      sources.set(kind, live)
      const changeLines = ({ key, value, change }: StoreChange) => {
        if (value !== undefined) return linesOf(kind, { key, value, change })
        return change === undefined ? lineOf(kind, '-', key, '') : lineOf(kind, '~', key, change)
      }
      return {
        stored: () => {
          const all = [...(before?.values() ?? [])]
          before = undefined
          return all
        },
        write: (changes) => write(changes.map(changeLines).join('')),
        put: (key, value) => push(lineOf(kind, '=', key, value)),
        change: (key, change) => push(lineOf(kind, '~', key, change)),
        remove: (key) => push(lineOf(kind, '-', key, '')),
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
