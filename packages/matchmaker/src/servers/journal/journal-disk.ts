import { open, readFile, rename, stat, unlink, type FileHandle } from 'node:fs/promises'
import { dirname } from 'node:path'
import { isFileAt } from './journal-lock.js'

/** The file of a journal while it is open. One call at a time. */
export class JournalDisk {
  readonly #path: string
  #file: FileHandle
  /** Bytes of the file that are as they should be. */
  #size: number
  /** Whether something else may come after them. */
  #isTorn = false
  #isForced = false
  /** Whether the folder may still have an earlier file under the name, should the power fail. */
  #isNameForced = true

  private constructor(path: string, file: FileHandle, size: number) {
    this.#path = path
    this.#file = file
    this.#size = size
  }

  /** A file that is there, without what comes after so many bytes. */
  static async open(path: string, size: number): Promise<JournalDisk> {
    const disk = new JournalDisk(path, await open(path, 'r+'), size)
    await disk.#cut()
    return disk
  }

  /** A file in place of what may be there. */
  static async create(path: string, bytes: Buffer, isForced: boolean): Promise<JournalDisk> {
    const disk = new JournalDisk(path, await writtenAnew(path, bytes, isForced), bytes.length)
    await disk.#named(isForced)
    return disk
  }

  size(): number {
    return this.#size
  }

  /** Whether all of it is on the disk. */
  isForced(): boolean {
    return this.#isForced
  }

  /** Adds all of it or, if that fails, nothing. @param isForced whether a power failure must not take it away. */
  async append(bytes: Buffer, isForced: boolean): Promise<void> {
    if (this.#isTorn) await this.#cut()
    this.#isTorn = true
    try {
      await writeFully(this.#file, bytes, this.#size)
      if (isForced) await this.#file.datasync()
      if (isForced && !this.#isNameForced) await this.#forceName()
    } catch (error) {
      this.#isForced = false
      // If that fails too, before the next one.
      await this.#cut().catch(() => {})
      throw error
    }
    this.#isTorn = false
    this.#isForced = isForced
    this.#size += bytes.length
  }

  /** Puts this in place of all of it; if that fails, it stays as it is. */
  async replace(bytes: Buffer, isForced: boolean): Promise<void> {
    const file = await writtenAnew(this.#path, bytes, isForced)
    await this.#file.close()
    this.#file = file
    this.#size = bytes.length
    this.#isTorn = false
    await this.#named(isForced)
  }

  /** Whether the file has its name still: an operator may have moved it, or another process have put its own there. */
  async place(): Promise<'there' | 'missing' | 'taken'> {
    if (await isFileAt(this.#path, this.#file)) return 'there'
    const other = await stat(this.#path).catch((error: NodeJS.ErrnoException) =>
      error.code === 'ENOENT' ? undefined : error,
    )
    return other === undefined ? 'missing' : 'taken'
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
    // It can still be done with the next entry that is forced.
    if (isForced) await this.#forceName().catch(() => (this.#isForced = false))
  }

  /** A new name in a folder is safe when the folder is. */
  async #forceName(): Promise<void> {
    // Windows opens no folders.
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

/** Empty where there is no such file. */
export async function readIfThere(path: string): Promise<Buffer> {
  try {
    return await readFile(path)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return Buffer.alloc(0)
    throw new Error(`the journal ${path} cannot be read: ${message}`, { cause: error })
  }
}

/** Nobody sees it by its name before it is complete. */
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
