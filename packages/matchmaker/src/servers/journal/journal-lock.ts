import { readFile, stat, unlink, type FileHandle } from 'node:fs/promises'
import { hostname } from 'node:os'
import { z } from 'zod'
import { JournalLocked } from './journal-errors.js'
import { openLocked } from './kernel-lock.js'

/** The right to write to a journal. */
export interface JournalLock {
  /** Whether whoever else wants it would come upon it: not if its file was removed. */
  isInPlace(): Promise<boolean>
  release(): Promise<void>
}

/** Who has it, for people: nothing depends on it. */
const holder = z.object({ host: z.string(), pid: z.int() })

/**
 * Takes the lock of a journal: a lock of the kernel on a file beside it. Of all processes, in whatever containers, one
 * has it; when that one ends, the next one gets it at once.
 * @param open opens and locks the file.
 * @throws {JournalLocked}
 */
export async function takeLock(path: string, open = () => openLocked(path)): Promise<JournalLock> {
  for (;;) {
    const file = await open()
    if (file === undefined) throw await lockedBy(path)
    if (await isFileAt(path, file)) return await signed(path, file)
    // The one who had it removed the file between our opening and our locking it: others may have made a new one since.
    await file.close()
  }
}

async function signed(path: string, file: FileHandle): Promise<JournalLock> {
  try {
    await file.truncate(0)
    await file.write(JSON.stringify({ host: hostname(), pid: process.pid }), 0)
  } catch {
    // A full disk. It is the lock that counts.
  }
  return {
    isInPlace: () => isFileAt(path, file),
    release: async () => {
      // As long as it is locked, nobody else can take it for theirs. What cannot be removed may stay.
      if (await isFileAt(path, file)) await unlink(path).catch(() => {})
      await file.close()
    },
  }
}

/** Whether the open file is the one that has that name now. */
export async function isFileAt(path: string, file: FileHandle): Promise<boolean> {
  const [open, named] = await Promise.all([
    file.stat({ bigint: true }),
    stat(path, { bigint: true }).catch(() => undefined),
  ])
  return named?.ino === open.ino && named.dev === open.dev
}

async function lockedBy(path: string): Promise<JournalLocked> {
  const said = await readFile(path, 'utf8').catch(() => '')
  const { data } = holder.safeParse(parsed(said))
  const who = data === undefined ? 'another process' : `process ${data.pid} of ${data.host}`
  return new JournalLocked(`the journal is in use by ${who}: ${path}`, data?.pid)
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}
