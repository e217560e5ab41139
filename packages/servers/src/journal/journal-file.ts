import { resolve } from 'node:path'
import { InvalidInput } from '@muster/core'
import { z } from 'zod'
import { read } from '@muster/core/validation'
import { JournalDisk, readIfThere } from './journal-disk.js'
import { JournalLocked, JournalTorn } from './journal-errors.js'
import { takeLock, type JournalLock } from './journal-lock.js'
import { HEADER, lineOf, readJournal } from './journal-lines.js'
import { applyEntry, entriesOf, type Journal, type JournalEntry, type OpenIntent } from './journal.js'

export interface FileJournalOptions {
  /**
   * Path of the file, in an existing folder. Beside it are `<path>.lock` while the journal is open, and `<path>.new`
   * while the file is rewritten.
   */
  readonly path: string
  /**
   * Which entries are forced onto the disk before they count as written. With every choice the operating system has an
   * entry once it counts as written, so the end of the process, even by kill -9, loses nothing. The choice decides what
   * a power failure can lose:
   * - `always`: every entry is forced;
   * - `intents` (default): only the entry `sent`, before a deployment is requested, is forced. Other lost entries are
   *   recovered by the tag of the match, but a server with players may be taken for one that nobody needs;
   * - `never`: no entry is forced. A deployment that was requested just before the power failure is then found only by
   *   the reaper.
   */
  readonly fsync?: 'always' | 'intents' | 'never' | undefined
  /**
   * Smallest size in bytes at which the file is rewritten without settled matches. Above it, the file is rewritten
   * whenever it has grown to four times its size after the last rewrite. Default 1 MiB.
   */
  readonly compactAtBytes?: number | undefined
}

const schema = z.strictObject({
  path: z.string().min(1),
  fsync: z.enum(['always', 'intents', 'never']).default('intents'),
  compactAtBytes: z
    .int()
    .min(1)
    .default(2 ** 20),
})

/** A journal that is opened and closed. */
export interface FileJournal extends Journal {
  append(entry: JournalEntry): Promise<void>
  open(problem?: (error: Error) => void): Promise<readonly OpenIntent[]>
  /** Waits for pending writes, and then releases the file for other processes. */
  close(): Promise<void>
}

interface Waiting {
  readonly entry: JournalEntry
  readonly json: string
  readonly written: () => void
  readonly failed: (error: unknown) => void
}

/**
 * Growth since the last rewrite, as a factor, at which the file is rewritten. With 4, each entry is rewritten about
 * once.
 */
const GROWTH = 4

/**
 * Creates a journal in a file. Entries are appended; opening the file again cuts off a line that a crash tore and
 * reports that as a `problem`. A lock of the kernel admits one process at a time: `open` rejects with `JournalLocked`
 * while another process, in whatever container, has the file open, and with `JournalCorrupt` if the file is damaged or
 * is no journal.
 * @throws {InvalidInput} naming the option and the value.
 */
export function createFileJournal(options: FileJournalOptions): FileJournal {
  const config = read(schema, options, (field, message) => new InvalidInput(`option ${message}`, { field }))
  const { fsync, compactAtBytes } = config
  const path = resolve(config.path)
  const isSafe = fsync !== 'never'
  const intents = new Map<string, OpenIntent>()
  let lock: JournalLock | undefined
  let disk: JournalDisk | undefined
  let nextCompactAt = compactAtBytes
  let waiting: Waiting[] = []
  let writing: Promise<void> | undefined

  const isForced = ({ kind }: JournalEntry) => fsync === 'always' || (fsync === 'intents' && kind === 'sent')

  /** The content of a file with only the open matches. */
  const live = () => {
    const lines = [...intents.values()].flatMap(entriesOf).map((entry) => lineOf(JSON.stringify(entry)))
    return Buffer.from(HEADER + lines.join(''))
  }
  const compacted = (size: number) => {
    nextCompactAt = Math.max(compactAtBytes, size * GROWTH)
  }

  const compact = async (to: JournalDisk): Promise<void> => {
    const bytes = live()
    // The next rewrite is scheduled before this one, so that after a failure it is not repeated with each entry.
    compacted(to.size())
    await to.replace(bytes, isSafe)
    compacted(bytes.length)
  }

  /**
   * The open file, ready for an append.
   * @throws {JournalLocked} if the path names another file than the one that was opened.
   */
  const ready = async (): Promise<JournalDisk> => {
    if (disk === undefined) throw new Error('the journal is not open')
    const place = await disk.place()
    if (place === 'there') return disk
    if (place === 'taken' || (await lock?.isInPlace()) !== true) {
      throw new JournalLocked(
        `the journal ${path} was replaced by another file while it was open: it is another process's now`,
      )
    }
    await compact(disk)
    return disk
  }

  const write = async (batch: readonly Waiting[]): Promise<void> => {
    const to = await ready()
    const lines = batch.map(({ json }, index) => lineOf(json, index === 0 && to.isForced()))
    await to.append(
      Buffer.from(lines.join('')),
      batch.some(({ entry }) => isForced(entry)),
    )
  }

  /** Writes all waiting entries as one batch, and repeats as long as entries are waiting. */
  const writeAll = async (): Promise<void> => {
    while (waiting.length > 0) {
      const batch = waiting
      waiting = []
      try {
        await write(batch)
        for (const { entry } of batch) applyEntry(intents, entry)
        for (const { written } of batch) written()
      } catch (error) {
        for (const { failed } of batch) failed(error)
        continue
      }
      if (disk !== undefined && disk.size() >= nextCompactAt) await compact(disk).catch(() => {})
    }
    writing = undefined
  }

  const load = async (problem: (error: Error) => void): Promise<JournalDisk> => {
    const bytes = await readIfThere(path, 'journal')
    const { entries, goodBytes, lostBytes } = readJournal(path, bytes)
    intents.clear()
    for (const entry of entries) applyEntry(intents, entry)
    const fresh = live()
    const opened = await JournalDisk.create(path, fresh, isSafe).catch((error: unknown) => {
      // On a full disk the existing file is used, so that running servers can still be followed and stopped; but not if
      // the file has damage among its entries.
      if (goodBytes + lostBytes < bytes.length || goodBytes === 0) throw error
      return JournalDisk.open(path, goodBytes)
    })
    compacted(opened.size())
    if (lostBytes > 0) problem(new JournalTorn(path, lostBytes))
    return opened
  }

  return {
    open: async (problem = () => {}) => {
      if (disk !== undefined) return [...intents.values()]
      lock ??= await takeLock(`${path}.lock`)
      try {
        disk = await load(problem)
      } catch (error) {
        await lock.release()
        lock = undefined
        throw error
      }
      return [...intents.values()]
    },
    append: (entry) =>
      new Promise((written, failed) => {
        waiting.push({ entry, json: JSON.stringify(entry), written, failed })
        writing ??= writeAll()
      }),
    close: async () => {
      await writing
      await disk?.close()
      disk = undefined
      await lock?.release()
      lock = undefined
    },
  }
}
