import { readFile, stat, unlink, type FileHandle } from 'node:fs/promises'
import { hostname } from 'node:os'
import { z } from 'zod'
import { JournalLocked } from './journal-errors.js'
import { openLocked, type LockedFile } from './kernel-lock.js'

/** The lock of a journal or a ticket log: only its holder may write to that file. */
export interface JournalLock {
  /** Whether other processes would still find this lock: false once its file was removed or replaced. */
  isInPlace(): Promise<boolean>
  release(): Promise<void>
}

/** The owner as written in the lock's file, for people only: nothing depends on it. */
const holder = z.object({ host: z.string(), pid: z.int() })

/**
 * Takes the lock of a file: a kernel lock on a file beside it. One process in whatever container holds the lock at a
 * time; when that process ends, the next one gets it at once.
 * @param open opens and locks the file.
 * @param what the file is, for messages.
 * @throws {JournalLocked}
 */
export async function takeLock(
  path: string,
  open = () => openLocked(path, what),
  what: LockedFile = 'journal',
): Promise<JournalLock> {
  for (;;) {
    const file = await open()
    if (file === undefined) throw await lockedBy(path, what)
    if (await isFileAt(path, file)) return await signed(path, file)
    // The previous owner removed the file between our open and our lock, so another process may have created a new one.
    await file.close()
  }
}

async function signed(path: string, file: FileHandle): Promise<JournalLock> {
  try {
    await file.truncate(0)
    await file.write(JSON.stringify({ host: hostname(), pid: process.pid }), 0)
  } catch {
    // The disk may be full. The owner's name is not needed: the lock counts.
  }
  return {
    isInPlace: () => isFileAt(path, file),
    release: async () => {
      // The file is removed before the lock is released, so that it cannot be another process's. If it cannot be
      // removed, it may stay.
      if (await isFileAt(path, file)) await unlink(path).catch(() => {})
      await file.close()
    },
  }
}

/** Where an open file is: at its path, at none, or another file has taken that path. */
export type Place = 'there' | 'missing' | 'taken'

export async function placeOf(path: string, file: FileHandle): Promise<Place> {
  if (await isFileAt(path, file)) return 'there'
  const isThere = await stat(path).then(
    () => true,
    (error: NodeJS.ErrnoException) => error.code !== 'ENOENT',
  )
  return isThere ? 'taken' : 'missing'
}

/** Whether the path still names the open file. */
async function isFileAt(path: string, file: FileHandle): Promise<boolean> {
  const [open, named] = await Promise.all([
    file.stat({ bigint: true }),
    stat(path, { bigint: true }).catch(() => undefined),
  ])
  return named?.ino === open.ino && named.dev === open.dev
}

async function lockedBy(path: string, what: LockedFile): Promise<JournalLocked> {
  const said = await readFile(path, 'utf8').catch(() => '')
  const { data } = holder.safeParse(parsed(said))
  const who = data === undefined ? 'another process' : `process ${data.pid} of ${data.host}`
  return new JournalLocked(`the ${what} is in use by ${who}: ${path}`, data?.pid)
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}
