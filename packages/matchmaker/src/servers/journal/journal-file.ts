import { open, readFile, rename, truncate, type FileHandle } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { InvalidInput } from '@muster/core'
import { z } from 'zod'
import { read } from '../../read.js'
import { takeLock } from './journal-lock.js'
import { lineOf, readLines } from './journal-lines.js'
import { applyEntry, type Journal, type JournalEntry, type OpenIntent } from './journal.js'

export interface FileJournalOptions {
  /** The file; its folder exists. Beside it there are `.lock` while it is open, and `.new` for a moment. */
  readonly path: string
  /**
   * What is forced onto the disk before it counts as written. Whatever the choice, an entry that counts is with the
   * operating system, so the end of the process at any moment, kill -9 included, loses nothing; the choice is about
   * power failures:
   * - `always`: every entry;
   * - `intents` (default): that a deployment is about to be asked for. What is lost of the rest is found out again by
   *   the tag of the match, but a match on which people play may be taken for one that nobody needs;
   * - `never`: nothing. A deployment that was asked for just before is then found by the reaper only.
   */
  readonly fsync?: 'always' | 'intents' | 'never' | undefined
  /** Bytes from which the file is written anew, without what is settled, when that makes it four times smaller. Default 1 MiB. */
  readonly compactAtBytes?: number | undefined
}

const schema = z.strictObject({
  path: z.string().min(1),
  fsync: z.enum(['always', 'intents', 'never']).default('intents'),
  compactAtBytes: z.int().min(1).default(2 ** 20),
})

/** A journal that has a lifetime. */
export interface FileJournal extends Journal {
  append(entry: JournalEntry): Promise<void>
  open(): Promise<readonly OpenIntent[]>
  /** Waits for what is being written, and lets others open the file. */
  close(): Promise<void>
}

interface Waiting {
  readonly entry: JournalEntry
  readonly line: string
  readonly written: () => void
  readonly failed: (error: unknown) => void
}

/**
 * A journal in a file: entries are appended, and a line that a crash tore is cut off when it is opened again. One
 * process at a time has it: `open` rejects with `JournalLocked` while another one lives, and with `JournalCorrupt` if
 * the file is damaged.
 * @throws {InvalidInput} naming the option and the value.
 */
export function createFileJournal(options: FileJournalOptions): FileJournal {
  const config = read(schema, options, (field, message) => new InvalidInput(`option ${message}`, { field }))
  const { fsync, compactAtBytes } = config
  const path = resolve(config.path)
  const intents = new Map<string, OpenIntent>()
  let unlock: (() => Promise<void>) | undefined
  let file: FileHandle | undefined
  /** Bytes of the file that are as they should be. */
  let size = 0
  /** Whether something else may come after them. */
  let isTorn = false
  let waiting: Waiting[] = []
  let writing: Promise<void> | undefined

  const isForced = ({ kind }: JournalEntry) => fsync === 'always' || (fsync === 'intents' && (kind === 'intent' || kind === 'sent'))

  /** The file anew, with what is open. */
  const compact = async (): Promise<void> => {
    const fresh = `${path}.new`
    const bytes = Buffer.from([...intents.values()].flatMap(entriesOf).map(lineOf).join(''))
    const handle = await open(fresh, 'w', 0o600)
    try {
      await handle.writeFile(bytes)
      if (fsync !== 'never') await handle.datasync()
      await rename(fresh, path)
    } catch (error) {
      await handle.close()
      throw error
    }
    await file?.close()
    file = handle
    size = bytes.length
    if (fsync !== 'never') await syncFolder(dirname(path))
  }

  const write = async (batch: readonly Waiting[]): Promise<void> => {
    if (file === undefined) throw new Error('the journal is not open')
    if (isTorn) await file.truncate(size)
    const bytes = Buffer.from(batch.map(({ line }) => line).join(''))
    isTorn = true
    await writeFully(file, bytes, size)
    if (batch.some(({ entry }) => isForced(entry))) await file.datasync()
    isTorn = false
    size += bytes.length
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
      // If it fails, the file that there is goes on.
      if (size >= compactAtBytes && sizeOf(intents) * 4 <= size) await compact().catch(() => {})
    }
    writing = undefined
  }

  const load = async (): Promise<void> => {
    const bytes = await readFile(path).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return Buffer.alloc(0)
      throw error
    })
    const { entries, goodBytes } = readLines(bytes)
    if (goodBytes < bytes.length) await truncate(path, goodBytes)
    intents.clear()
    for (const entry of entries) applyEntry(intents, entry)
    await compact()
  }

  return {
    open: async () => {
      unlock ??= await takeLock(`${path}.lock`)
      if (file === undefined) await load()
      return [...intents.values()]
    },
    append: (entry) =>
      new Promise((written, failed) => {
        waiting.push({ entry, line: lineOf(entry), written, failed })
        writing ??= writeAll()
      }),
    close: async () => {
      await writing
      await file?.close()
      file = undefined
      const give = unlock
      unlock = undefined
      await give?.()
    },
  }
}

async function writeFully(file: FileHandle, bytes: Buffer, start: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const { bytesWritten } = await file.write(bytes, done, bytes.length - done, start + done)
    done += bytesWritten
  }
}

/** A new name in a folder is safe when the folder is. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** What says the same in as few entries as possible. */
function entriesOf({ sentAt, requestId, assigned, endsAt, assignment, ...intent }: OpenIntent): JournalEntry[] {
  const { matchId } = intent
  const entries: JournalEntry[] = [{ kind: 'intent', ...intent }]
  if (sentAt !== undefined) entries.push({ kind: 'sent', matchId, at: sentAt })
  if (requestId !== undefined) entries.push({ kind: 'created', matchId, requestId })
  if (assigned) entries.push({ kind: 'assigned', matchId, endsAt, assignment })
  return entries
}

/** Bytes, roughly. */
const sizeOf = (intents: ReadonlyMap<string, OpenIntent>) => intents.size * 600
