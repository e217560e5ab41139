import { existsSync } from 'node:fs'
import { unlink } from 'node:fs/promises'
import { resolve } from 'node:path'
import { InvalidInput } from '@muster/core'
import { systemClock, type Clock } from '@muster/core/clock'
import { read } from '@muster/core/internal'
import { z } from 'zod'
import { MatchmakerClosed, StoreLocked, StoreTorn, Unavailable } from '../errors.js'
import { takeLock, type StoreLock } from './flock.js'
import {
  checkKind,
  NAME,
  type RecordsByKind,
  refuseOtherOwner,
  type Store,
  type KindChange,
  type StoreOwner,
  type StoreRecord,
  type StoreRecords,
} from './store.js'
import { forceFolderOf, readIfThere, StoreFile } from './store-file.js'
import {
  FORCED_LINE,
  HEADER,
  lineOf,
  lineOfAll,
  linesOf,
  readStore,
  VERSION,
  wholeFile,
  type ReadStore,
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
   * - `intents` (default): the last second or two, but nothing that precedes the request for a deployment: that leaves
   *   once its intent is on the disk;
   * - `never`: as much as the operating system has not written yet, some 30 seconds on Linux. A deployment that was
   *   requested just before the power failure is then found only by its tag, `orphanGraceMs` after its start.
   */
  readonly fsync?: 'always' | 'intents' | 'never' | undefined
  /**
   * Smallest size in bytes at which the file is rewritten without records that ended. Above it, the file is rewritten
   * whenever it has grown to four times its size after the last rewrite. Default 4 MiB.
   */
  readonly compactAtBytes?: number | undefined
  /**
   * Paths of files that earlier versions kept: ticket logs of version 1, and journals of servers of version 2. Those
   * that exist are read, and are removed once all of their records are in the store, on the disk. Default: none.
   */
  readonly takeOver?: readonly string[] | undefined
  readonly clock?: Clock | undefined
}

const schema = z.strictObject({
  path: z.string().min(1),
  fsync: z.enum(['always', 'intents', 'never']).default('intents'),
  compactAtBytes: z
    .int()
    .min(1)
    .default(2 ** 22),
  takeOver: z.array(z.string().min(1)).default([]),
  clock: z.custom<Clock>((value) => typeof Reflect.get(Object(value), 'now') === 'function').default(systemClock),
})

/**
 * Opens a store in a file, and reads what an earlier process has left in it. flock(2) admits one process at a time,
 * also across containers.
 * @throws {InvalidInput} naming the option and the value
 * @throws {StoreLocked} while another process has the file, or one of `takeOver`, open
 * @throws {StoreCorrupt} if the file, or one of `takeOver`, is something else, of another version, or damaged where a
 *   server may be. Nothing was changed.
 */
export async function openStore(options: StoreOptions): Promise<Store> {
  const config = read(schema, options, (field, message) => new InvalidInput(`option ${message}`, { field }))
  const path = resolve(config.path)
  const lock = await takeLock(path)
  const older: OlderFile[] = []
  try {
    for (const one of config.takeOver) if (existsSync(one)) older.push(await openOlder(resolve(one)))
    return await openLocked({ ...config, path, lock }, older)
  } catch (error) {
    await lock.release()
    throw error
  } finally {
    for (const one of older) await one.lock.release()
  }
}

/** A file of a store, as `muster migrate` tells of it. */
export interface StoreFileFound {
  readonly path: string
  /** Version of the format. */
  readonly version: number
  /** Whether a start writes it in the latest format. */
  readonly isOlder: boolean
  readonly records: number
  /** Lines that a crash has damaged, which are left out. */
  readonly damagedLines: number
}

/**
 * The files that `openStore` would read, and in which versions they are. Locks and changes nothing.
 * @throws {StoreCorrupt} as `openStore`
 */
export async function findStoreFiles(options: Pick<StoreOptions, 'path' | 'takeOver'>): Promise<StoreFileFound[]> {
  const { path, takeOver = [] } = options
  const found: StoreFileFound[] = []
  for (const one of [path, ...takeOver].filter((each) => existsSync(each))) {
    const { version, records, damage } = readStore(one, await readIfThere(one))
    const count = Array.from(records.values(), ({ size }) => size).reduce((sum, size) => sum + size, 0)
    const isOlder = one !== path || version !== VERSION
    found.push({ path: one, version, isOlder, records: count, damagedLines: damage?.lines ?? 0 })
  }
  return found
}

type Locked = Pick<FileStoreOptions, 'path' | 'lock' | 'fsync' | 'compactAtBytes' | 'clock'>

async function openLocked(options: Locked, older: readonly OlderFile[]): Promise<Store> {
  const { path, fsync } = options
  const bytes = await readIfThere(path)
  const own: ReadStore = readStore(path, bytes)
  const damages = [{ path, damage: own.damage }, ...older.map((one) => ({ path: one.path, damage: one.read.damage }))]
  const file = await StoreFile.open(path)
  try {
    const store = createFileStore({
      ...options,
      file,
      stored: merged([own.records, ...older.map((one) => one.read.records)]),
      damages: damages.flatMap((one) => (one.damage === undefined ? [] : [new StoreTorn(one.path, one.damage)])),
    })
    // Lines after damage that a crash explains would make it unexplained, and an older version cannot be appended to.
    if (own.isStale || older.length > 0) await store.rewrite(older.length > 0)
    else await file.renew(bytes.subarray(0, own.goodBytes), fsync !== 'never')
    for (const one of older) await unlink(one.path)
    for (const one of older) await forceFolderOf(one.path, false)
    return store
  } catch (error) {
    await file.close()
    throw error
  }
}

/** A file of an earlier version, which no process of that version may use meanwhile. */
interface OlderFile {
  readonly path: string
  readonly lock: StoreLock
  readonly read: ReadStore
}

async function openOlder(path: string): Promise<OlderFile> {
  const lock = await takeLock(path)
  try {
    return { path, lock, read: readStore(path, await readIfThere(path)) }
  } catch (error) {
    await lock.release()
    throw error
  }
}

/** A kill while files are taken over may leave their records in the new file already: then they are the same. */
function merged([own, ...older]: readonly [RecordsByKind, ...RecordsByKind[]]): RecordsByKind {
  if (older.length === 0) return own
  const records = new Map<string, Map<string, StoreRecord>>()
  for (const one of [own, ...older])
    for (const [kind, ofKind] of one) records.set(kind, new Map([...(records.get(kind) ?? []), ...ofKind]))
  return records
}

/** A write-ahead log in one file, with compaction on demand. */
export interface FileStore extends Store {
  /**
   * Compaction: replaces the file by one that holds only the live records.
   * @param isForced whether the new file must survive a power failure, whatever `fsync` says.
   */
  rewrite(isForced?: boolean): Promise<void>
}

export interface FileStoreOptions {
  readonly path: string
  readonly fsync: 'always' | 'intents' | 'never'
  readonly compactAtBytes: number
  readonly clock: Pick<Clock, 'now'>
  readonly lock: StoreLock
  readonly file: Pick<StoreFile, 'size' | 'isForced' | 'append' | 'force' | 'replace' | 'place' | 'close'>
  /** What was read. */
  readonly stored: RecordsByKind
  /** What was lost when it was read. */
  readonly damages: readonly StoreTorn[]
}

/** Compaction starts when the file is this many times as large as after the last one: a line is rewritten once. */
const GROWTH = 4
/** Milliseconds from a failure to the next attempt, and between two checks of the file. */
const EVERY_MS = 1000
/** Most characters of pending lines while writes fail (our choice). Beyond, the whole file is rewritten instead. */
const MOST_PENDING = 2 ** 23

const changeLines = ({ kind, key, value, change }: KindChange): string => {
  if (value !== undefined) return linesOf(kind, { key, value, change })
  return change === undefined ? lineOf(kind, '-', key, '') : lineOf(kind, '~', key, change)
}

/** Creates the write-ahead log in a file that is open and locked, and compacts it as it grows. */
export function createFileStore(options: FileStoreOptions): FileStore {
  const { path, fsync, compactAtBytes, clock, lock, file } = options
  const isForced = fsync === 'always'
  /** The present records of each kind: those read from the file, until a module owns the kind. */
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
  let damages = options.damages
  let working: Promise<void> | undefined
  let rewriting: Promise<void> | undefined
  /** The `sync` under way, and the one that follows it. */
  let syncing: Promise<void> | undefined
  let syncingNext: Promise<void> | undefined
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
      new Unavailable(`Store ${path} cannot be written. It is tried again every second.`, {
        retryAfterMs: EVERY_MS,
        cause,
      })
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
    if (isClosed) throw new MatchmakerClosed(`Store ${path} is closed.`)
    const unavailable = append(lines)
    if (unavailable !== undefined) throw unavailable
    tail?.push(lines)
  }

  const rewriteNow = async (mustForce: boolean): Promise<void> => {
    // Failed compaction is not retried before the file has grown again, unless the file lacks records.
    nextCompactAt = Math.max(compactAtBytes, file.size() * GROWTH)
    tail = []
    const replaced = () => {
      isLacking = false
      nextCompactAt = Math.max(compactAtBytes, file.size() * GROWTH)
      markedAt = 0
      written()
    }
    try {
      const forced = { parts: mustForce || fsync !== 'never', rest: mustForce || isForced }
      await file.replace(wholeFile(sources), { rest: () => tail?.join('') ?? '', replaced }, forced)
    } finally {
      tail = undefined
    }
  }
  const rewrite = (mustForce = false) => (rewriting ??= rewriteNow(mustForce).finally(() => (rewriting = undefined)))

  /**
   * Writes the file again if it was removed or lacks something.
   * @throws {StoreLocked} if another file has taken its place
   */
  const look = async (): Promise<void> => {
    const place = await file.place()
    if (place === 'taken' || (place === 'missing' && !(await lock.isInPlace()))) {
      isLacking = true
      retryAt ??= clock.now()
      throw new StoreLocked(`Store ${path} was replaced while it was open: it is another process's now.`)
    }
    if (place === 'missing' || isLacking) await rewrite()
  }

  const syncAfter = async (before: Promise<void> | undefined): Promise<void> => {
    await before?.catch(() => {})
    syncing = syncingNext
    syncingNext = undefined
    flush()
    await look()
    await file.force()
  }

  const advance = async (): Promise<void> => {
    const now = clock.now()
    if (isClosed || !isTime(lookAt, now)) return
    lookAt = now + EVERY_MS
    for (const damage of damages) owner?.problem(damage)
    damages = []
    // If there is nothing to write, a line that changes nothing finds out whether it can be written again.
    if (retryAt !== undefined && pending.length === 0) push(lineOf(NAME, '-', '', ''))
    flush()
    try {
      await look()
      if (file.size() >= nextCompactAt) await rewrite().catch((error: unknown) => owner?.problem(error))
      if (fsync === 'intents') await file.force()
    } catch (error) {
      if (isLacking) failed(error)
      else owner?.problem(error)
    }
  }

  return {
    rewrite,
    isFailing: () => retryAt !== undefined,
    attach: (given) => {
      const { name } = given
      refuseOtherOwner(stored, name, owner)
      const isNamed = stored.get(NAME)?.has(name) === true
      owner = given
      sources.set(NAME, () => [{ key: name, value: '{}' }])
      if (!isNamed) push(lineOf(NAME, '=', name, '{}'))
    },

    records: (kind, live): StoreRecords => {
      checkKind(kind)
      let before = stored.get(kind)
      stored.delete(kind)
      sources.set(kind, live)
      return {
        stored: () => {
          const all = [...(before?.values() ?? [])]
          before = undefined
          return all
        },
        write: (changes) => write(changes.map((change) => changeLines({ kind, ...change })).join('')),
        put: (key, value) => push(lineOf(kind, '=', key, value)),
        change: (key, change) => push(lineOf(kind, '~', key, change)),
        remove: (key) => push(lineOf(kind, '-', key, '')),
      }
    },

    write: (changes) => {
      for (const { kind } of changes) checkKind(kind)
      write(lineOfAll(changes))
    },
    flush,
    sync: () => (fsync === 'never' ? undefined : (syncingNext ??= syncAfter(syncing))),
    advance: () => (working ??= advance().finally(() => (working = undefined))),
    isClosed: () => isClosed,
    close: async () => {
      if (isClosed) return
      await Promise.allSettled([working, syncing, syncingNext, rewriting])
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
