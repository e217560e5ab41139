import { constants, open, type FileHandle } from 'node:fs/promises'
import { getSystemErrorName } from 'node:util'

/** Of libuv, for Windows: nobody else may open the file meanwhile. */
const UV_FS_O_EXLOCK = 0x10000000

/**
 * Opens a file, which is made where there is none, and locks it for as long as it is open. The lock is the kernel's: it
 * holds among processes and containers that share the file, and ends with the process, however that ends.
 * @returns undefined if another one has it locked.
 * @throws if the file cannot be opened, or what it lies on keeps no locks.
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

interface LockCalls {
  /** Locks an open file without waiting. Gives 0, or the number of the error. */
  flock(fd: number): number
  isTaken(error: number): boolean
}

let lockCalls: Promise<LockCalls> | undefined

/**
 * Node.js has no flock(2). An optional dependency, loaded only here: whoever keeps no journal in a file needs no native
 * code.
 */
async function loadLockCalls(): Promise<LockCalls> {
  const { default: koffi } = await import('koffi').catch((error: unknown) => {
    const where = `${process.platform} ${process.arch}`
    throw new Error(
      `the journal cannot be locked: koffi, an optional dependency, is not installed or does not load on ${where}`,
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

/** LOCK_EX and LOCK_NB, the same on all systems that have them. */
const EXCLUSIVE_AT_ONCE = 2 | 4
