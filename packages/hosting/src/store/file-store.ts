import { existsSync } from 'node:fs'
import { stat, unlink } from 'node:fs/promises'
import { resolve } from 'node:path'
import { InvalidInput } from '@muster/core'
import { systemClock, type Clock } from '@muster/core/clock'
import { having, messageOf, read } from '@muster/core/internal'
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
} from './store.js'
import { fileAt, forceFolderOf, readIfThere, StoreFile } from './append-file.js'
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
   * Path of the file, in an existing folder. `<path>.lock` exists while the store is open, and `<path>.new` while the
   * file is rewritten. Only the user of the process can read these files.
   */
  readonly path: string
  /**
   * What a power failure may lose. A crash of the process, even by kill -9, never loses anything.
   * - `always`: nothing. Each write waits for the disk, and the whole process with it, so use it only for few tickets
   *   per second;
   * - `intents` (default): the last second or two. The request for a deployment is sent only once everything before it
   *   is on the disk;
   * - `never`: everything that the operating system has not written yet, some 30 s on Linux. A deployment requested
   *   just before the power failure is found only by its tag, `orphanGraceMs` after its start.
   */
  readonly fsync?: 'always' | 'intents' | 'never' | undefined
  /**
   * Bytes above which the file is rewritten without removed records. After that, it is rewritten whenever its size has
   * grown fourfold. Default 4 MiB.
   */
  readonly compactAtBytes?: number | undefined
  /**
   * Paths of files of earlier versions: ticket logs of version 1, and journals of servers of version 2. Their records
   * are moved into the store, and then the files are removed. Default: none.
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
  clock: having<Clock>('now').default(systemClock),
})

/**
 * Opens a store in a file, and reads its records. Only one process at a time can have it open, even across containers
 * (flock(2)).
 * @throws {InvalidInput} with the option and the value
 * @throws {StoreLocked} while another process has the file, or one of `takeOver`, open
 * @throws {StoreCorrupt} if the file, or one of `takeOver`, is not a store, has an unknown version, or has damage that
 * may concern a server. Nothing was changed.
 */
export async function openStore(options: StoreOptions): Promise<Store> {
  const config = read(schema, options, (field, fieldAndFault) => new InvalidInput(`option ${fieldAndFault}`, { field }))
  const path = await fileAt(resolve(config.path))
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

/** A file that `muster migrate` has found. */
export interface StoreFileFound {
  readonly path: string
  /** Version of the file's format. */
  readonly version: number
  /** True if the next start converts the file. */
  readonly isOlder: boolean
  readonly records: number
  /** Number of lines that a crash has damaged. They are ignored. */
  readonly damagedLines: number
}

/**
 * Finds the files that `openStore` would read, and their versions. Neither locks nor changes them.
 * @throws {StoreCorrupt} like `openStore`
 */
export async function findStoreFiles(options: Pick<StoreOptions, 'path' | 'takeOver'>): Promise<StoreFileFound[]> {
  const { path, takeOver = [] } = options
  const found: StoreFileFound[] = []
  for (const one of [path, ...takeOver]) {
    if (!(await isThere(one))) continue
    const { version, records, damage } = readStore(one, await readIfThere(one))
    const count = Array.from(records.values(), ({ size }) => size).reduce((sum, size) => sum + size, 0)
    const isOlder = one !== path || version !== VERSION
    found.push({ path: one, version, isOlder, records: count, damagedLines: damage?.lines ?? 0 })
  }
  return found
}

/** @throws {Error} if the user may not know whether the file exists, e.g. in a folder of another user */
async function isThere(path: string): Promise<boolean> {
  try {
    return (await stat(path)) !== undefined
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return false
    throw new Error(`Store ${path} cannot be read: ${message}.`, { cause: error })
  }
}

type Locked = Pick<FileStoreOptions, 'path' | 'lock' | 'fsync' | 'compactAtBytes' | 'clock'>

async function openLocked(options: Locked, older: readonly OlderFile[]): Promise<Store> {
  const { path, fsync } = options
  const bytes = await readIfThere(path)
  const isEmptied = bytes.length === 0 && existsSync(path) && older.length === 0
  const own: ReadStore = readStore(path, bytes)
  const damages = [{ path, damage: own.damage }, ...older.map((one) => ({ path: one.path, damage: one.read.damage }))]
  const file = await StoreFile.open(path)
  try {
    const store = new FileStore({
      ...options,
      file,
      stored: merged([own.records, ...older.map((one) => one.read.records)]),
      damages: [
        ...(isEmptied ? [emptied(path)] : []),
        ...damages.flatMap((one) => (one.damage === undefined ? [] : [new StoreTorn(one.path, one.damage)])),
      ],
    })
    // If lines are damaged, rewrite the file. Otherwise further lines would follow the damage, and it would look like
    // corruption that no crash explains. Rewrite files of earlier versions too.
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

const emptied = (path: string) =>
  new Error(
    `Store ${path} is empty. If it had records, end this process and restore a backup: ` +
      'servers without a record are stopped as orphans, even with players.',
  )

/** A locked file of an earlier version. */
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

/** Merges the records of all files. After an interrupted takeover, the new file already has older records. */
function merged([own, ...older]: readonly [RecordsByKind, ...RecordsByKind[]]): RecordsByKind {
  if (older.length === 0) return own
  const records = new Map<string, Map<string, StoreRecord>>()
  for (const one of [own, ...older])
    for (const [kind, ofKind] of one) records.set(kind, new Map([...(records.get(kind) ?? []), ...ofKind]))
  return records
}

export interface FileStoreOptions {
  readonly path: string
  readonly fsync: 'always' | 'intents' | 'never'
  readonly compactAtBytes: number
  readonly clock: Pick<Clock, 'now'>
  readonly lock: StoreLock
  readonly file: Pick<StoreFile, 'size' | 'isForced' | 'isUnsafe' | 'append' | 'force' | 'replace' | 'place' | 'close'>
  readonly stored: RecordsByKind
  readonly damages: readonly Error[]
}

/** Factor by which the file grows between two compactions. So each line is rewritten about once on average. */
const GROWTH = 4
/**
 * The same after a failed compaction, and above `LARGE_BYTES` (our choice). Node.js reads no file of more than 2 GiB,
 * so a start would fail.
 */
const LESS_GROWTH = 1.25
const LARGE_BYTES = 2 ** 30
/** Milliseconds between a failed write and its repetition, and between two checks of the file. */
const EVERY_MS = 1000
/** Maximum characters of unwritten lines (our choice). Beyond it, they are dropped, and the whole file is rewritten. */
const MOST_PENDING = 2 ** 23

const changeLines = ({ kind, key, value, change }: KindChange): string => {
  if (value !== undefined) return linesOf(kind, { key, value, change })
  return change === undefined ? lineOf(kind, '-', key, '') : lineOf(kind, '~', key, change)
}

/** A store in an open and locked file. Its methods are fields, so that users may pass them on separately. */
export class FileStore implements Store {
  readonly #options: FileStoreOptions
  /**
   * Functions that return the current records of each kind. Until a module registers the kind, they come from the
   * file.
   */
  readonly #sources = new Map<string, () => Iterable<StoreRecord>>()
  readonly #stored: Map<string, ReadonlyMap<string, StoreRecord>>
  #owner: StoreOwner | undefined
  #pending: string[] = []
  #pendingSize = 0
  #isScheduled = false
  /** Epoch milliseconds at which a failed write is repeated. Undefined if the last write succeeded. */
  #retryAt: number | undefined
  /** Why the last write failed: a code of the system, or a message. */
  #lastFault = 'lines are missing in it'
  /** True if lines are missing in the file, so that it must be rewritten before anything is appended. */
  #isLacking = false
  /** The lines that were written since the current rewrite began. Undefined if no rewrite is in progress. */
  #tail: string[] | undefined
  #nextCompactAt: number
  /** Size of the file up to its last `FORCED_LINE`. */
  #markedAt = 0
  #lookAt = 0
  #damages: readonly Error[]
  #working: Promise<void> | undefined
  #rewriting: Promise<void> | undefined
  /** The `sync` in progress, and the one that begins after it. */
  #syncing: Promise<void> | undefined
  #syncingNext: Promise<void> | undefined
  #isClosed = false

  constructor(options: FileStoreOptions) {
    this.#options = options
    this.#stored = new Map(options.stored)
    for (const [kind, records] of options.stored) this.#sources.set(kind, () => records.values())
    this.#nextCompactAt = options.compactAtBytes
    this.#damages = options.damages
  }

  /**
   * Compaction: rewrites the file with only the current records.
   * @param isForced true if the new file must survive a power failure, whatever `fsync` is
   */
  readonly rewrite = (isForced = false): Promise<void> =>
    (this.#rewriting ??= this.#rewriteNow(isForced).finally(() => (this.#rewriting = undefined)))

  readonly isFailing = () => this.#retryAt !== undefined

  readonly attach: Store['attach'] = (owner) => {
    const { name } = owner
    refuseOtherOwner(this.#stored, name, this.#owner)
    const isNamed = this.#stored.get(NAME)?.has(name) === true
    this.#owner = owner
    this.#sources.set(NAME, () => [{ key: name, value: '{}' }])
    if (!isNamed) this.#push(lineOf(NAME, '=', name, '{}'))
  }

  readonly records: Store['records'] = (kind, live) => {
    checkKind(kind)
    let before = this.#stored.get(kind)
    this.#stored.delete(kind)
    this.#sources.set(kind, live)
    return {
      stored: () => {
        const all = [...(before?.values() ?? [])]
        before = undefined
        return all
      },
      write: (changes) => this.#write(changes.map((change) => changeLines({ kind, ...change })).join('')),
      put: (key, value) => this.#push(lineOf(kind, '=', key, value)),
      change: (key, change) => this.#push(lineOf(kind, '~', key, change)),
      remove: (key) => this.#push(lineOf(kind, '-', key, '')),
    }
  }

  readonly write: Store['write'] = (changes) => {
    for (const { kind } of changes) checkKind(kind)
    this.#write(lineOfAll(changes))
  }

  readonly flush = () => {
    this.#isScheduled = false
    if (this.#pending.length > 0 && !this.#isClosed) this.#append('')
  }

  readonly sync = () =>
    this.#options.fsync === 'never' ? undefined : (this.#syncingNext ??= this.#syncAfter(this.#syncing))

  readonly advance = () => (this.#working ??= this.#advance().finally(() => (this.#working = undefined)))

  readonly isClosed = () => this.#isClosed

  readonly close = async () => {
    const { fsync, file, lock } = this.#options
    if (this.#isClosed) return
    await Promise.allSettled([this.#working, this.#syncing, this.#syncingNext, this.#rewriting])
    // Allow one last attempt to write.
    this.#retryAt = undefined
    if (this.#mustRewrite()) await this.#assertInPlace().catch((error: unknown) => this.#failed(error))
    else this.flush()
    this.#isClosed = true
    try {
      if (fsync !== 'never') await file.force()
    } finally {
      await file.close()
      await lock.release()
    }
  }

  #failed(error: unknown): void {
    this.#retryAt = this.#options.clock.now() + EVERY_MS
    if (error instanceof StoreLocked) return this.#owner?.problem(error)
    this.#lastFault = codeOf(error)
    this.#owner?.problem(this.#unavailable(error))
  }

  #unavailable(cause?: unknown): Unavailable {
    const { path } = this.#options
    const message = `Store ${path} cannot be written (${this.#lastFault}). It is tried again every second.`
    return new Unavailable(message, { retryAfterMs: EVERY_MS, cause })
  }

  /** True if nothing may be appended until the file is rewritten. */
  #mustRewrite(): boolean {
    return this.#isLacking || this.#options.file.isUnsafe()
  }

  #mayTry(): boolean {
    return this.#retryAt === undefined || (!this.#mustRewrite() && isTime(this.#retryAt, this.#options.clock.now()))
  }

  /** Appends the pending lines and these lines. Returns an error if nothing was written. */
  #append(lines: string): Unavailable | undefined {
    const { fsync, file } = this.#options
    if (!this.#mayTry()) return this.#unavailable()
    const isMarked = file.isForced() && file.size() > this.#markedAt
    try {
      const before = file.size() === 0 ? HEADER : isMarked ? FORCED_LINE : ''
      file.append(before + this.#pending.join('') + lines, fsync === 'always')
    } catch (error) {
      this.#failed(error)
      return this.#unavailable(error)
    }
    if (isMarked) this.#markedAt = file.size()
    this.#written()
    return undefined
  }

  #written(): void {
    this.#retryAt = undefined
    this.#pending = []
    this.#pendingSize = 0
  }

  #push(line: string): void {
    if (this.#isClosed) return
    this.#tail?.push(line)
    this.#pending.push(line)
    this.#pendingSize += line.length
    if (this.#pendingSize > MOST_PENDING) {
      this.#isLacking = true
      this.#retryAt ??= this.#options.clock.now()
      this.#pending = []
      this.#pendingSize = 0
    }
    if (this.#isScheduled) return
    this.#isScheduled = true
    queueMicrotask(this.flush)
  }

  #write(lines: string): void {
    if (this.#isClosed) throw new MatchmakerClosed(`Store ${this.#options.path} is closed.`)
    const unavailable = this.#append(lines)
    if (unavailable !== undefined) throw unavailable
    this.#tail?.push(lines)
  }

  async #rewriteNow(mustForce: boolean): Promise<void> {
    const { fsync, file, compactAtBytes } = this.#options
    // After a failed compaction, wait until the file has grown again. A file that lacks lines is rewritten earlier,
    // see `#assertInPlace`.
    const repeatAt = () => Math.max(compactAtBytes, file.size() * LESS_GROWTH)
    this.#nextCompactAt = repeatAt()
    this.#tail = []
    const replaced = () => {
      this.#isLacking = false
      this.#nextCompactAt = Math.max(repeatAt(), Math.min(file.size() * GROWTH, LARGE_BYTES))
      this.#markedAt = 0
      this.#written()
    }
    try {
      const forced = { parts: mustForce || fsync !== 'never', rest: mustForce || fsync === 'always' }
      await file.replace(wholeFile(this.#sources), { rest: () => this.#tail?.join('') ?? '', replaced }, forced)
    } finally {
      this.#tail = undefined
    }
  }

  /**
   * Rewrites the file if it was removed, lacks lines or may lack them on the disk.
   * @throws {StoreLocked} if the path now names another file
   */
  async #assertInPlace(): Promise<void> {
    const { path, file, lock, clock } = this.#options
    const place = await file.place()
    if (place === 'taken' || (place === 'missing' && !(await lock.isInPlace()))) {
      this.#isLacking = true
      this.#retryAt ??= clock.now()
      throw new StoreLocked(
        place === 'taken'
          ? `Store ${path} was replaced by another process while it was open, or its folder cannot be read.`
          : `Store ${path} and its lock were moved or removed. Move them back: until then, Muster writes nothing.`,
      )
    }
    if (place === 'missing' || this.#mustRewrite()) await this.rewrite()
  }

  async #syncAfter(before: Promise<void> | undefined): Promise<void> {
    await before?.catch(() => {})
    this.#syncing = this.#syncingNext
    this.#syncingNext = undefined
    this.flush()
    await this.#assertInPlace()
    await this.#force()
  }

  async #force(): Promise<void> {
    try {
      await this.#options.file.force()
    } catch (error) {
      this.#lastFault = codeOf(error)
      this.#retryAt ??= this.#options.clock.now()
      throw error
    }
  }

  async #advance(): Promise<void> {
    const { fsync, file, clock } = this.#options
    const now = clock.now()
    if (this.#isClosed || !isTime(this.#lookAt, now)) return
    this.#lookAt = now + EVERY_MS
    for (const damage of this.#damages) this.#owner?.problem(damage)
    this.#damages = []
    // Without pending lines, write a line without effect, to test whether writing works again.
    if (this.#retryAt !== undefined && this.#pending.length === 0) this.#push(lineOf(NAME, '-', '', ''))
    this.flush()
    try {
      await this.#assertInPlace()
      if (file.size() >= this.#nextCompactAt)
        await this.rewrite().catch((error: unknown) => this.#owner?.problem(error))
      if (fsync === 'intents') await this.#force()
    } catch (error) {
      if (this.#mustRewrite()) this.#failed(error)
      else this.#owner?.problem(error)
    }
  }
}

/** True if the time has come, or the clock was set back. */
const isTime = (at: number, now: number) => now >= at || now < at - EVERY_MS

const codeOf = (error: unknown) => (error as NodeJS.ErrnoException).code ?? messageOf(error)
