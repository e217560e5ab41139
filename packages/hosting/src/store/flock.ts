import { constants, type FileHandle, open, readFile, stat, unlink } from 'node:fs/promises'
import { hostname } from 'node:os'
import { getSystemErrorName } from 'node:util'
import { jsonIn } from '@muster/core/internal'
import { z } from 'zod'
import { StoreLocked } from '../errors.js'

/** A flag of libuv for Windows: no other process may open the file meanwhile. */
const UV_FS_O_EXLOCK = 0x10000000

/**
 * Opens a file, or creates it, and locks it until it is closed. flock(2) excludes all other processes, even in other
 * containers that share the file. The operating system releases the lock when the process ends.
 * @returns undefined if another process has locked the file
 * @throws if the file cannot be opened, or its file system does not support locks
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

/** Loads flock(2), which Node.js lacks, by koffi. Users without a store in a file do not need koffi. */
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

/** LOCK_EX | LOCK_NB, which have the same values on all systems with flock(2). */
const EXCLUSIVE_AT_ONCE = 2 | 4

/** The lock of a store's file. Only its holder may write to the file. */
export interface StoreLock {
  /** True if other processes find the same lock. False if the lock file was removed or replaced. */
  isInPlace(): Promise<boolean>
  release(): Promise<void>
}

/** The content of a lock file. It is only shown to people. */
const holder = z.object({ host: z.string(), pid: z.int() })

/**
 * Locks a file by flock(2) on a separate lock file. Only one process holds the lock, even across containers. The lock
 * is free as soon as that process ends.
 * @param path path of the file to lock. The path of the lock file is `<path>.lock`
 * @param openLockFile opens and locks the lock file
 * @throws {StoreLocked}
 */
export async function takeLock(path: string, openLockFile = () => openLocked(`${path}.lock`)): Promise<StoreLock> {
  const lockPath = `${path}.lock`
  for (;;) {
    const file = await openLockFile()
    if (file === undefined) throw await lockedBy(path, lockPath)
    if (await isFileAt(lockPath, file)) return await signed(lockPath, file)
    // The previous holder has removed the lock file before this process locked it, so another process may have a new
    // one. Try again.
    await file.close()
  }
}

async function signed(path: string, file: FileHandle): Promise<StoreLock> {
  try {
    await file.truncate(0)
    await file.write(JSON.stringify({ host: hostname(), pid: process.pid }), 0)
  } catch {
    // The disk may be full. The content of the lock file is not essential.
  }
  return {
    isInPlace: () => isFileAt(path, file),
    release: async () => {
      // Remove the file while it is still locked. Afterwards it could be another process's lock file.
      if (await isFileAt(path, file)) await unlink(path).catch(() => {})
      await file.close()
    },
  }
}

/** What a path names now: the open file (`there`), no file, or another file (`taken`). */
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
  const { data } = holder.safeParse(jsonIn(said))
  const who = data === undefined ? 'another process' : `process ${data.pid} on host ${data.host}`
  return new StoreLocked(`Store ${path} is locked by ${who}. Stop that process or use another folder.`, data?.pid)
}
