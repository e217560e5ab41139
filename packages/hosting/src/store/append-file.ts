import { closeSync, fdatasyncSync, fsync, fsyncSync, ftruncateSync, openSync, renameSync, writeSync } from 'node:fs'
import { open, readFile, unlink, type FileHandle } from 'node:fs/promises'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { type LockFileState, placeOf } from './flock.js'

/**
 * The open file of a store. Appends are synchronous: when one returns, the operating system has the bytes, so the end
 * of the process loses nothing.
 */
export class StoreFile {
  readonly #path: string
  #file: FileHandle
  /** Number of complete bytes from the start of the file. */
  #size: number
  /** Number of bytes from the start of the file that are on the disk. -1: perhaps none. */
  #forcedSize = -1
  /** True if a failed append may have left bytes after the complete ones. */
  #isTorn = false

  private constructor(path: string, file: FileHandle, size: number) {
    this.#path = path
    this.#file = file
    this.#size = size
  }

  /** Opens a file, creating it if necessary. It must be renewed or replaced before it is appended to. */
  static async open(path: string): Promise<StoreFile> {
    const file = await open(path, 'a', 0o600)
    try {
      // The file contains players' addresses, so only its owner may read it, even if something else created it.
      if (process.platform !== 'win32') await file.chmod(0o600)
      await forceFolderOf(path, false)
      return new StoreFile(path, file, (await file.stat()).size)
    } catch (error) {
      await file.close()
      throw error
    }
  }

  /**
   * Replaces the file by a new one with these bytes, which are the beginning of the current file. A process that still
   * has the current file open, because its lock was removed by hand, finds it replaced. If there is no room for a new
   * file, the current file is truncated after the bytes.
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

  /** True if the whole file is on the disk. */
  isForced(): boolean {
    return this.#forcedSize === this.#size
  }

  /**
   * Appends the whole string or, on failure, nothing.
   * @param isForced true if the string must survive a power failure. Then the call waits for the disk.
   */
  append(text: string, isForced: boolean): void {
    if (this.#isTorn) this.#cut()
    this.#isTorn = true
    try {
      const written = writeFully(this.#file.fd, text)
      if (isForced) fdatasyncSync(this.#file.fd)
      this.#size += written
    } catch (error) {
      this.#forcedSize = -1
      try {
        this.#cut()
      } catch {
        // The failed cut is repeated before the next append.
      }
      throw error
    }
    this.#isTorn = false
    if (isForced) this.#forcedSize = this.#size
  }

  /** Forces everything appended so far onto the disk (fdatasync). Appends may continue meanwhile. */
  async force(): Promise<void> {
    while (!this.isForced()) {
      const [file, size] = [this.#file, this.#size]
      await file.datasync()
      // A rewrite has moved the appended data to another file.
      if (file !== this.#file) continue
      this.#forcedSize = Math.max(this.#forcedSize, size)
      return
    }
  }

  /**
   * Writes a new file, and replaces this one by it at once.
   * @param parts its parts, written one by one.
   * @param last.rest returns what follows them. @param last.replaced is called in the same turn of the event loop, once
   *   appends go to the new file.
   * @param forced what must survive a power failure, like in `append`: the parts, and what follows them.
   * @throws and this file does not change
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
      // A crash may have left an unfinished file.
      await file.truncate(0)
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
      replaced()
    } catch (error) {
      await file.close()
      await unlink(fresh).catch(() => {})
      throw error
    }
    if (forced.parts) await forceFolderOf(this.#path, forced.rest)
    await before.close()
  }

  /** Returns whether the path still names this file. The file may have been removed, or replaced by another process. */
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

/** Writes the whole string. Returns its number of bytes. */
function writeFully(fd: number, text: string): number {
  const length = Buffer.byteLength(text)
  const written = writeSync(fd, text)
  // A nearly full disk may accept only a part of the string.
  if (written < length) {
    const rest = Buffer.from(text).subarray(written)
    for (let done = 0; done < rest.length;) done += writeSync(fd, rest, done)
  }
  return length
}

const force = promisify(fsync)

/**
 * Syncs the folder of a file, because the name of a new file survives a power failure only then. Windows cannot open
 * folders.
 * @param atOnce true if the fsync must happen within this turn of the event loop. Nothing is reported as durable
 *   before.
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

/** Reads a file. Returns an empty buffer if it does not exist. */
export async function readIfThere(path: string): Promise<Buffer> {
  try {
    return await readFile(path)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return Buffer.alloc(0)
    throw new Error(`Store ${path} cannot be read: ${message}.`, { cause: error })
  }
}
