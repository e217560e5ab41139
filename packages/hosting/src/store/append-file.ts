import { closeSync, fdatasyncSync, fsync, fsyncSync, ftruncateSync, openSync, renameSync, writeSync } from 'node:fs'
import { open, readlink, realpath, unlink, type FileHandle } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { promisify } from 'node:util'
import { giveToOwner } from '@muster/core/internal'
import { type LockFileState, placeOf } from './flock.js'

/**
 * The open file of a store. Appends are synchronous: the operating system has the bytes when a call returns, so a
 * crash of this process loses nothing.
 */
export class StoreFile {
  readonly #path: string
  #file: FileHandle
  /** Number of bytes of the file that are complete. */
  #size: number
  /** Number of bytes of the file that are certainly on the disk. -1 if that is unknown. */
  #forcedSize = -1
  /** True if bytes of a failed append may follow the complete ones. */
  #isTorn = false
  /** The `fdatasync` or sync of the folder in progress. */
  #forcing: Promise<void> | undefined
  /** The error of a failed sync, until the file is replaced. */
  #syncFault: unknown

  private constructor(path: string, file: FileHandle, size: number) {
    this.#path = path
    this.#file = file
    this.#size = size
  }

  /** Opens a file, or creates it. `renew` or `replace` must be called before the first `append`. */
  static async open(path: string): Promise<StoreFile> {
    const file = await open(path, 'a', 0o600)
    try {
      // The file contains players' addresses, so only its owner may read it, even if something else created the file.
      if (process.platform !== 'win32') await file.chmod(0o600)
      await forceFolderOf(path, false)
      return new StoreFile(path, file, (await file.stat()).size)
    } catch (error) {
      await file.close()
      throw error
    }
  }

  /**
   * Replaces the file by a new one with these bytes, which are the beginning of the file. A process that still uses
   * the old file, because somebody removed its lock, then notices the replacement. If there is no space for a new
   * file, the file is truncated instead.
   */
  async renew(bytes: Buffer, isForced: boolean): Promise<void> {
    try {
      const last = { rest: () => '', replaced: () => {} }
      await this.replace([bytes], last, { parts: isForced, rest: isForced })
    } catch {
      this.#size = bytes.length
      this.#cut()
    }
  }

  size(): number {
    return this.#size
  }

  isForced(): boolean {
    return this.#syncFault === undefined && this.#forcedSize === this.#size
  }

  /**
   * True if a sync has failed. The system may then have dropped what it could not write, and reports a further sync as
   * successful. Only `replace` makes the content safe again.
   */
  isUnsafe(): boolean {
    return this.#syncFault !== undefined
  }

  /**
   * Appends a string completely, or not at all if it throws.
   * @param isForced true if the string must survive a power failure. The call then waits for the disk
   */
  append(text: string, isForced: boolean): void {
    if (this.#isTorn) this.#cut()
    this.#isTorn = true
    try {
      const written = writeFully(this.#file.fd, text)
      if (isForced) this.#forceNow()
      this.#size += written
    } catch (error) {
      this.#forcedSize = -1
      try {
        this.#cut()
      } catch {
        // The bytes of the failed append are still in the file. The next `append` tries again to cut them off.
      }
      throw error
    }
    this.#isTorn = false
    if (isForced) this.#forcedSize = this.#size
  }

  /**
   * Waits until everything appended so far is on the disk (fdatasync). Further appends may follow meanwhile.
   * @throws the error of the sync, again at each call until the file is replaced
   */
  async force(): Promise<void> {
    let [file, size] = [this.#file, this.#size]
    // Later appends do not count: under a constant load there would always be one more.
    while (this.#syncFault !== undefined || this.#forcedSize < size) {
      if (this.#syncFault !== undefined) throw this.#syncFault
      await (this.#forcing ?? this.#forceBy(() => this.#forceData()))
      // `replace` has moved the data to another file.
      if (file !== this.#file) [file, size] = [this.#file, this.#size]
    }
  }

  /** Runs one sync at a time, because the system reports a failed one to only one of several callers. */
  async #forceBy(sync: () => Promise<void>): Promise<void> {
    const [file, forcing] = [this.#file, sync()]
    this.#forcing = forcing
    try {
      await forcing
    } catch (error) {
      // `replace` may have moved the data to another file meanwhile.
      if (file === this.#file) this.#syncFault = error
      throw error
    } finally {
      if (this.#forcing === forcing) this.#forcing = undefined
    }
  }

  async #forceData(): Promise<void> {
    const [file, size] = [this.#file, this.#size]
    await file.datasync()
    if (file === this.#file) this.#forcedSize = Math.max(this.#forcedSize, size)
  }

  #forceNow(): void {
    try {
      fdatasyncSync(this.#file.fd)
    } catch (error) {
      this.#syncFault = error
      throw error
    }
  }

  /**
   * Replaces the file atomically by a new one.
   * @param parts the content of the new file, written one by one
   * @param last `rest` returns the end of the content. `replaced` is called right after the replacement, before any
   * further append
   * @param forced whether `parts` and `rest` must survive a power failure
   * @throws if the file was not replaced, or its folder could not be synced
   */
  async replace(
    parts: Iterable<string | Buffer>,
    { rest, replaced }: { readonly rest: () => string; readonly replaced: () => void },
    forced: { readonly parts: boolean; readonly rest: boolean },
  ): Promise<void> {
    const fresh = `${this.#path}.new`
    const file = await open(fresh, 'a', 0o600)
    const before = this.#file
    try {
      // A crash may have left a part of an earlier attempt.
      await file.truncate(0)
      await giveToOwner(fresh, file)
      let size = 0
      for (const part of parts) {
        await file.appendFile(part)
        size += Buffer.byteLength(part)
      }
      if (forced.parts) await file.datasync()
      size += writeFully(file.fd, rest())
      if (forced.rest) fdatasyncSync(file.fd)
      renameSync(fresh, this.#path)
      this.#file = file
      this.#size = size
      this.#isTorn = false
      this.#forcedSize = forced.rest ? size : -1
      this.#syncFault = undefined
      replaced()
    } catch (error) {
      await file.close()
      await unlink(fresh).catch(() => {})
      throw error
    }
    try {
      if (forced.parts) await this.#forceBy(() => forceFolderOf(this.#path, forced.rest))
    } finally {
      await before.close()
    }
  }

  /** Returns whether the path still names this file. Another process may have removed or replaced it. */
  place(): Promise<LockFileState> {
    return placeOf(this.#path, this.#file)
  }

  async close(): Promise<void> {
    await this.#file.close()
  }

  #cut(): void {
    ftruncateSync(this.#file.fd, this.#size)
    this.#isTorn = false
  }
}

/** Writes a string completely. Returns its number of bytes. */
function writeFully(fd: number, text: string): number {
  const length = Buffer.byteLength(text)
  const written = writeSync(fd, text)
  // If the disk is nearly full, a part of the string may be missing.
  if (written < length) {
    const rest = Buffer.from(text).subarray(written)
    for (let done = 0; done < rest.length;) done += writeSync(fd, rest, done)
  }
  return length
}

const force = promisify(fsync)

/**
 * Syncs the folder of a file. Otherwise a power failure could lose the name of a new file. Has no effect on Windows.
 * @param atOnce true to sync within this turn of the event loop, so that nothing is reported as durable too early
 */
export async function forceFolderOf(path: string, atOnce: boolean): Promise<void> {
  if (process.platform === 'win32') return
  const folder = openSync(dirname(path), 'r')
  try {
    if (atOnce) fsyncSync(folder)
    else await force(folder)
  } finally {
    closeSync(folder)
  }
}

/** Follows symbolic links, so that link and file share one lock, and that a compaction does not replace the link. */
export async function fileAt(path: string): Promise<string> {
  const target = await readlink(path).catch(() => undefined)
  if (target === undefined) return path
  return realpath(path).catch(async (error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error
    // The file does not exist yet. The target may be a link too.
    return fileAt(resolve(await realpath(dirname(path)), target))
  })
}

/** Maximum number of bytes of one read. The system calls read at most 2 GiB. */
const PIECE = 2 ** 30

/** Reads a file of any size. Returns an empty buffer if the file does not exist. */
export async function readIfThere(path: string, pieceBytes = PIECE): Promise<Buffer> {
  try {
    const file = await open(path, 'r')
    try {
      const bytes = Buffer.allocUnsafe((await file.stat()).size)
      let size = 0
      while (size < bytes.length) {
        const { bytesRead } = await file.read(bytes, size, Math.min(pieceBytes, bytes.length - size))
        if (bytesRead === 0) break
        size += bytesRead
      }
      return bytes.subarray(0, size)
    } finally {
      await file.close()
    }
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return Buffer.alloc(0)
    throw new Error(`Store ${path} cannot be read: ${message}.`, { cause: error })
  }
}
