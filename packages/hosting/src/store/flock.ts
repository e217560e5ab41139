import { constants, type FileHandle, open, readFile, stat, unlink } from 'node:fs/promises'
import { hostname } from 'node:os'
import { getSystemErrorName } from 'node:util'
import { z } from 'zod'
import { StoreLocked } from '../errors.js'

/** A flag of libuv for Windows: no other process may open the file while it is open here. */
const UV_FS_O_EXLOCK = 0x10000000

/**
 * Opens a file, creating it if necessary, and locks it until it is closed. flock(2) excludes all other processes and
 * containers that share the file. The operating system releases the lock when the process ends, even after a crash.
 * @returns undefined if the file is already locked.
 * @throws if the file cannot be opened, or its file system does not support locks.
 */
export async function openLocked(path: string): Promise<FileHandle | undefined> {
  return process.platform === 'win32' ? openExclusively(path) : openAndFlock(path)
}

async function openExclusively(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, constants.O_RDWR | constants.O_CREAT | UV_FS_O_EXLOCK, 0o600)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EBUSY') return undefined
    throw error
  }
}

async function openAndFlock(path: string): Promise<FileHandle | undefined> {
  const { flock, isTaken } = await (lockCalls ??= loadLockCalls())
  const file = await open(path, constants.O_RDWR | constants.O_CREAT, 0o600)
  try {
    const error = flock(file.fd)
    if (error === 0) return file
    if (!isTaken(error)) throw new Error(`${path} cannot be locked: ${getSystemErrorName(-error)}`)
  } catch (error) {
    await file.close()
    throw error
  }
  await file.close()
  return undefined
}

type LockCalls = Awaited<ReturnType<typeof loadLockCalls>>

let lockCalls: Promise<LockCalls> | undefined

/**
 * Loads flock(2), which Node.js lacks, through koffi. It is loaded only here, so that other users need no native code.
 */
async function loadLockCalls() {
  const { default: koffi } = await import('koffi').catch((error: unknown) => {
    const where = `${process.platform} ${process.arch}`
    throw new Error(
      `The store cannot be locked: koffi, an optional dependency, is not installed or does not load on ${where}.`,
      { cause: error },
    )
  })
  const flock = koffi.load(null).func('int flock(int fd, int operation)') as (fd: number, operation: number) => number
  const { EWOULDBLOCK, EAGAIN } = koffi.os.errno
  return {
    /** Locks an open file without waiting. Returns 0, or the error number. */
    flock: (fd: number) => (flock(fd, EXCLUSIVE_AT_ONCE) === 0 ? 0 : koffi.errno()),
    isTaken: (error: number) => error === EWOULDBLOCK || error === EAGAIN,
  }
}

/** The flags LOCK_EX and LOCK_NB, which have the same values on all systems with flock(2). */
const EXCLUSIVE_AT_ONCE = 2 | 4

/** The lock of a store. Only its holder may write to the store's file. */
export interface StoreLock {
  /** True if other processes would still find this lock. False once its file was removed or replaced. */
  isInPlace(): Promise<boolean>
  release(): Promise<void>
}

/** The owner as written in the lock's file. It is only for people: nothing depends on it. */
const holder = z.object({ host: z.string(), pid: z.int() })

/**
 * Takes the lock of a file: flock(2) on a file next to it. One process in any container holds the lock at a time. When
 * that process ends, the next one gets it at once.
 * @param path of the locked file. The lock's own file is `<path>.lock`.
 * @param openLockFile opens and locks the lock's file.
 * @throws {StoreLocked}
 */
export async function takeLock(path: string, openLockFile = () => openLocked(`${path}.lock`)): Promise<StoreLock> {
  const lockPath = `${path}.lock`
  for (;;) {
    const file = await openLockFile()
    if (file === undefined) throw await lockedBy(path, lockPath)
    if (await isFileAt(lockPath, file)) return await signed(lockPath, file)
    // The previous owner removed the file between our open and our lock, so another process may have created a new one.
    await file.close()
  }
}

async function signed(path: string, file: FileHandle): Promise<StoreLock> {
  try {
    await file.truncate(0)
    await file.write(JSON.stringify({ host: hostname(), pid: process.pid }), 0)
  } catch {
    // The disk may be full. The owner's name is not needed, because only the lock counts.
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

/** What the path of an open file names now: that file, no file, or another file. */
export type LockFileState = 'there' | 'missing' | 'taken'

export async function placeOf(path: string, file: FileHandle): Promise<LockFileState> {
  const [held, named] = await Promise.all([
    file.stat({ bigint: true }),
    stat(path, { bigint: true }).catch((error: NodeJS.ErrnoException) => error.code),
  ])
  if (typeof named !== 'object') return named === 'ENOENT' ? 'missing' : 'taken'
  return named.ino === held.ino && named.dev === held.dev ? 'there' : 'taken'
}

/** True if the path still names the open file. */
const isFileAt = async (path: string, file: FileHandle) => (await placeOf(path, file)) === 'there'

async function lockedBy(path: string, lockPath: string): Promise<StoreLocked> {
  const said = await readFile(lockPath, 'utf8').catch(() => '')
  const { data } = holder.safeParse(parsed(said))
  const who = data === undefined ? 'another process' : `process ${data.pid} on host ${data.host}`
  return new StoreLocked(`Store ${path} is locked by ${who}. Stop that process or use another folder.`, data?.pid)
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}
