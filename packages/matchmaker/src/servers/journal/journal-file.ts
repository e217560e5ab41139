import { resolve } from 'node:path'
import { InvalidInput } from '@muster/core'
import { z } from 'zod'
import { read } from '../../read.js'
import { JournalDisk, readIfThere } from './journal-disk.js'
import { JournalLocked, JournalTorn } from './journal-errors.js'
import { takeLock, type JournalLock } from './journal-lock.js'
import { HEADER, lineOf, readJournal } from './journal-lines.js'
import { applyEntry, entriesOf, type Journal, type JournalEntry, type OpenIntent } from './journal.js'

export interface FileJournalOptions {
  /** The file; its folder exists. Beside it there are `.lock` while it is open, and `.new` for a moment. */
  readonly path: string
  /**
   * What is forced onto the disk before it counts as written. Whatever the choice, an entry that counts is with the
   * operating system, so the end of the process at any moment, kill -9 included, loses nothing; the choice is about
   * power failures:
   * - `always`: every entry;
   * - `intents` (default): that a deployment is about to be asked for (`sent`). What is lost of the rest is found out
   *   again by
   *   the tag of the match, but a match on which people play may be taken for one that nobody needs;
   * - `never`: nothing. A deployment that was asked for just before is then found by the reaper only.
   */
  readonly fsync?: 'always' | 'intents' | 'never' | undefined
  /**
   * Bytes from which the file is written anew, without what is settled, when it is four times as large as it was when
   * it was last written anew. Default 1 MiB.
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

/** A journal that has a lifetime. */
export interface FileJournal extends Journal {
  append(entry: JournalEntry): Promise<void>
  open(problem?: (error: Error) => void): Promise<readonly OpenIntent[]>
  /** Waits for what is being written, and lets others open the file. */
  close(): Promise<void>
}

interface Waiting {
  readonly entry: JournalEntry
  readonly json: string
  readonly written: () => void
  readonly failed: (error: unknown) => void
}

/**
 * So many times as large as what is open of it, the file is written anew: each entry is then written about once more.
 */
const GROWTH = 4

/**
 * A journal in a file: entries are appended, and a line that a crash tore is cut off when it is opened again, which is
 * a `problem`. One process at a time has it, by a lock of the kernel: `open` rejects with `JournalLocked` while another
 * one lives, in whatever container, and with `JournalCorrupt` if the file is damaged or is no journal.
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

  /** What is open, as a file of its own. */
  const live = () => {
    const lines = [...intents.values()].flatMap(entriesOf).map((entry) => lineOf(JSON.stringify(entry)))
    return Buffer.from(HEADER + lines.join(''))
  }
  const compacted = (size: number) => {
    nextCompactAt = Math.max(compactAtBytes, size * GROWTH)
  }

  const compact = async (to: JournalDisk): Promise<void> => {
    const bytes = live()
    // If it fails, the file that there is goes on, and it is not tried again with each entry.
    compacted(to.size())
    await to.replace(bytes, isSafe)
    compacted(bytes.length)
  }

  /** @throws {JournalLocked} where the file is not the one that was opened. */
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

  /** Everything that waits at once, as long as something does. */
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
    const bytes = await readIfThere(path)
    const { entries, goodBytes, lostBytes } = readJournal(path, bytes)
    intents.clear()
    for (const entry of entries) applyEntry(intents, entry)
    const fresh = live()
    const opened = await JournalDisk.create(path, fresh, isSafe).catch((error: unknown) => {
      // On a full disk, what runs can still be followed and stopped; but not with a hole in what is said about it.
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
