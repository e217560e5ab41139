import { rmSync } from 'node:fs'
import { type FileHandle, open, rename, rm, stat } from 'node:fs/promises'
import { constants } from 'node:os'
import { resolve } from 'node:path'
import { InvalidInput } from '@muster/core'
import { ENDING_SIGNALS } from '@muster/core/internal'
import type { Terminal } from './terminal.js'

/**
 * Creates an output part by part. `put` resolves once a part is written. It resolves with false once the reader has
 * gone.
 */
type MakeProduct = (put: (text: string) => Promise<boolean>) => Promise<void>

/**
 * Writes the output of a command to the standard output, or to a file. An existing file is replaced only once the
 * output is complete, so Ctrl-C leaves the old file unchanged.
 * @param file path; undefined for the standard output.
 */
export async function writeProduct(file: string | undefined, terminal: Terminal, make: MakeProduct): Promise<void> {
  if (file === undefined) return make(terminal.put)
  const path = resolve(terminal.folder, file)
  const found = await stat(path).catch(() => undefined)
  if (found?.isFile() === false) return writeTo(await openFor(path, file), make)
  const part = partOf(path)
  const handle = await openFor(part, file)
  const remove = (signal: (typeof ENDING_SIGNALS)[number]) => {
    rmSync(part, { force: true })
    process.exit(128 + constants.signals[signal])
  }
  for (const signal of ENDING_SIGNALS) process.once(signal, remove)
  try {
    await writeTo(handle, make)
    await rename(part, path).catch((error: unknown) => {
      throw unwritable(error, file)
    })
  } catch (error) {
    await rm(part, { force: true })
    throw error
  } finally {
    for (const signal of ENDING_SIGNALS) process.off(signal, remove)
  }
}

/** Writes a whole string to a file, like `writeProduct`. */
export const writeText = (file: string, terminal: Terminal, text: string): Promise<void> =>
  writeProduct(file, terminal, async (put) => void (await put(text)))

/**
 * Checks before long work that its outputs can be written.
 * @param outputs files by their options, e.g. `--html`. @param inputs files that no output may replace.
 * @throws {InvalidInput} if an output is also another file of the command; the error of the system otherwise
 */
export async function assertOutputs(
  outputs: Readonly<Record<string, string | undefined>>,
  inputs: readonly string[],
  terminal: Terminal,
): Promise<void> {
  const users = new Map(inputs.map((file) => [resolve(terminal.folder, file), 'the command reads']))
  for (const [option, file] of Object.entries(outputs)) {
    if (file === undefined) continue
    const path = resolve(terminal.folder, file)
    const found = await stat(path).catch(() => undefined)
    // Several outputs may go to one device.
    if (found !== undefined && !found.isFile() && !found.isDirectory()) continue
    const other = users.get(path)
    if (other !== undefined) throw new InvalidInput(`${option}: ${file} is a file that ${other}, too`)
    users.set(path, `${option} writes`)
    if (found?.isDirectory() === true) throw new Error(`${file} cannot be written (EISDIR)`)
    const part = partOf(path)
    await (await openFor(part, file)).close()
    await rm(part, { force: true })
  }
}

const partOf = (path: string) => `${path}.${process.pid}.part`

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
    throw unwritable(error, file)
  }
}

/** Returns the error of a file that cannot be written, or of a folder that cannot be made, by the name as given. */
export function unwritable(error: unknown, file: string, how = 'written'): Error {
  const { code = 'unknown error' } = error as NodeJS.ErrnoException
  return new Error(`${file} cannot be ${how} (${code})`, { cause: error })
}
