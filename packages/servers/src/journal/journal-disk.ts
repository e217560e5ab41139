import { open, readFile, rename, unlink, type FileHandle } from 'node:fs/promises'
import { dirname } from 'node:path'
import { placeOf, type Place } from './journal-lock.js'
import type { LockedFile } from './kernel-lock.js'

/** The open file of a journal. Calls must not overlap. */
export class JournalDisk {
  readonly #path: string
  #file: FileHandle
  /** Bytes of the file, from its start, that are complete. */
  #size: number
  /** Whether a failed append may have left bytes after the complete ones. */
  #isTorn = false
  #isForced = false
  /**
   * Whether the folder entry is on the disk: until then a power failure may bring back an earlier file of the same
   * name.
   */
  #isNameForced = true

  private constructor(path: string, file: FileHandle, size: number) {
    this.#path = path
    this.#file = file
    this.#size = size
  }

  /** Opens an existing file and cuts off everything after `size` bytes. */
  static async open(path: string, size: number): Promise<JournalDisk> {
    const disk = new JournalDisk(path, await open(path, 'r+'), size)
    await disk.#cut()
    return disk
  }

  /** Creates a file, replacing an existing one. */
  static async create(path: string, bytes: Buffer, isForced: boolean): Promise<JournalDisk> {
    const disk = new JournalDisk(path, await writtenAnew(path, bytes, isForced), bytes.length)
    await disk.#named(isForced)
    return disk
  }

  size(): number {
    return this.#size
  }

  /** Whether the whole file is on the disk. */
  isForced(): boolean {
    return this.#isForced
  }

  /**
   * Appends all bytes or, on failure, none.
   * @param isForced whether the bytes must survive a power failure.
   */
  async append(bytes: Buffer, isForced: boolean): Promise<void> {
    if (this.#isTorn) await this.#cut()
    this.#isTorn = true
    try {
      await writeFully(this.#file, bytes, this.#size)
      if (isForced) await this.#file.datasync()
      if (isForced && !this.#isNameForced) await this.#forceName()
    } catch (error) {
      this.#isForced = false
      // A failed cut is repeated before the next append.
      await this.#cut().catch(() => {})
      throw error
    }
    this.#isTorn = false
    this.#isForced = isForced
    this.#size += bytes.length
  }

  /** Replaces the whole content of the file; on failure the file stays as it was. */
  async replace(bytes: Buffer, isForced: boolean): Promise<void> {
    const file = await writtenAnew(this.#path, bytes, isForced)
    await this.#file.close()
    this.#file = file
    this.#size = bytes.length
    this.#isTorn = false
    await this.#named(isForced)
  }

  /**
   * Whether the path still names the open file: an operator may have moved it, or another process may have replaced it.
   */
  place(): Promise<Place> {
    return placeOf(this.#path, this.#file)
  }

  async close(): Promise<void> {
    await this.#file.close()
  }

  async #cut(): Promise<void> {
    await this.#file.truncate(this.#size)
    this.#isTorn = false
  }

  async #named(isForced: boolean): Promise<void> {
    this.#isForced = isForced
    this.#isNameForced = !isForced
    // If forcing the name fails, the next forced append tries again.
    if (isForced) await this.#forceName().catch(() => (this.#isForced = false))
  }

  /** Forces the folder onto the disk: the name of a new file survives a power failure only together with its folder. */
  async #forceName(): Promise<void> {
    // Windows cannot open folders.
    if (process.platform !== 'win32') {
      const folder = await open(dirname(this.#path), 'r')
      try {
        await folder.sync()
      } finally {
        await folder.close()
      }
    }
    this.#isNameForced = true
  }
}

/**
 * Reads a file; returns an empty buffer if it does not exist.
 * @param what the file is, for messages.
 */
export async function readIfThere(path: string, what: LockedFile): Promise<Buffer> {
  try {
    return await readFile(path)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return Buffer.alloc(0)
    throw new Error(`the ${what} ${path} cannot be read: ${message}`, { cause: error })
  }
}

/** Writes a new file under a temporary name and renames it once it is complete, so that no reader sees half a file. */
async function writtenAnew(path: string, bytes: Buffer, isForced: boolean): Promise<FileHandle> {
  const fresh = `${path}.new`
  const file = await open(fresh, 'w', 0o600)
  try {
    await writeFully(file, bytes, 0)
    if (isForced) await file.datasync()
    await rename(fresh, path)
  } catch (error) {
    await file.close()
    await unlink(fresh).catch(() => {})
    throw error
  }
  return file
}

async function writeFully(file: FileHandle, bytes: Buffer, start: number): Promise<void> {
  for (let done = 0; done < bytes.length;) {
    const { bytesWritten } = await file.write(bytes, done, bytes.length - done, start + done)
    done += bytesWritten
  }
}
