import { constants, open, type FileHandle } from 'node:fs/promises'
import { getSystemErrorName } from 'node:util'

/** A flag of libuv for Windows: no other process may open the file while it is open here. */
const UV_FS_O_EXLOCK = 0x10000000

/**
 * Opens a file, creating it if necessary, and locks it for as long as it is open. The lock is the kernel's: it holds
 * among all processes and containers that share the file, and ends with the process, even after a crash.
 * @returns undefined if the file is already locked.
 * @throws if the file cannot be opened, or its file system supports no locks.
 */
export async function openLocked(path: string, what: LockedFile = 'journal'): Promise<FileHandle | undefined> {
  return process.platform === 'win32' ? openExclusively(path) : openAndFlock(path, what)
}

/** What is locked, for messages. */
export type LockedFile = 'journal' | 'ticket log'

async function openExclusively(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, constants.O_RDWR | constants.O_CREAT | UV_FS_O_EXLOCK, 0o600)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EBUSY') return undefined
    throw error
  }
}

async function openAndFlock(path: string, what: LockedFile): Promise<FileHandle | undefined> {
  const { flock, isTaken } = await (lockCalls ??= loadLockCalls(what))
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

interface LockCalls {
  /** Locks an open file without waiting. Returns 0, or the error number. */
  flock(fd: number): number
  isTaken(error: number): boolean
}

let lockCalls: Promise<LockCalls> | undefined

/**
 * Loads flock(2), which Node.js lacks, through the optional dependency koffi. It is loaded only here, so that a backend
 * without a journal file needs no native code.
 */
async function loadLockCalls(what: LockedFile): Promise<LockCalls> {
  const { default: koffi } = await import('koffi').catch((error: unknown) => {
    const where = `${process.platform} ${process.arch}`
    throw new Error(
      `the ${what} cannot be locked: koffi, an optional dependency, is not installed or does not load on ${where}`,
      { cause: error },
    )
  })
  const flock = koffi.load(null).func('int flock(int fd, int operation)') as (fd: number, operation: number) => number
  const { EWOULDBLOCK, EAGAIN } = koffi.os.errno
  return {
    flock: (fd) => (flock(fd, EXCLUSIVE_AT_ONCE) === 0 ? 0 : koffi.errno()),
    isTaken: (error) => error === EWOULDBLOCK || error === EAGAIN,
  }
}

/** The flags LOCK_EX and LOCK_NB, which have the same values on all systems with flock(2). */
const EXCLUSIVE_AT_ONCE = 2 | 4
