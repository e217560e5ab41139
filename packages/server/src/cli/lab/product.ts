import { rmSync } from 'node:fs'
import { open, rename, rm, stat, type FileHandle } from 'node:fs/promises'
import { resolve } from 'node:path'
import { EXIT } from '../exit-codes.js'
import type { Terminal } from '../terminal.js'

/** Makes a text, part by part. `put` waits until a part is taken; false once no more is wanted. */
export type MakeProduct = (put: (text: string) => Promise<boolean>) => Promise<void>

/**
 * Writes what a command makes to the standard output, or to a file. The file takes its place when it is whole: one that
 * was there stays as it was until then, also when the command is ended by Ctrl-C.
 * @param file path; undefined for the standard output.
 */
export async function writeProduct(file: string | undefined, terminal: Terminal, make: MakeProduct): Promise<void> {
  if (file === undefined) return make(terminal.put)
  const path = resolve(terminal.folder, file)
  const isDevice = await stat(path).then(
    (found) => !found.isFile(),
    () => false,
  )
  if (isDevice) return writeTo(await openFor(path, file), make)
  const part = `${path}.${process.pid}.part`
  const handle = await openFor(part, file)
  const remove = () => {
    rmSync(part, { force: true })
    process.exit(EXIT.interrupted)
  }
  process.once('SIGINT', remove)
  try {
    await writeTo(handle, make)
    await rename(part, path)
  } catch (error) {
    await rm(part, { force: true })
    throw error
  } finally {
    process.off('SIGINT', remove)
  }
}

async function writeTo(handle: FileHandle, make: MakeProduct): Promise<void> {
  try {
    await make(async (text) => {
      await handle.writeFile(text)
      return true
    })
  } finally {
    await handle.close()
  }
}

async function openFor(path: string, file: string): Promise<FileHandle> {
  try {
    return await open(path, 'w')
  } catch (error) {
    const { code = 'unknown error' } = error as NodeJS.ErrnoException
    throw new Error(`${file} cannot be written (${code})`, { cause: error })
  }
}
