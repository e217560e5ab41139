import { rmSync, write } from 'node:fs'
import { copyFile, type FileHandle, open, readlink, realpath, rename, rm, stat } from 'node:fs/promises'
import { constants } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
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
 * output is complete, so Ctrl-C leaves the old file unchanged. The new file has the mode of the old one. A symbolic
 * link remains: its target is replaced.
 * @param file path; undefined for the standard output.
 */
export async function writeProduct(file: string | undefined, terminal: Terminal, make: MakeProduct): Promise<void> {
  if (file === undefined) return make(terminal.put)
  const path = await targetOf(resolve(terminal.folder, file))
  const descriptor = descriptorAt(path)
  const found = await stat(path).catch(() => undefined)
  if (found?.isFile() === true && descriptor !== undefined)
    return make((text) => putAll(file, () => writeAll(descriptor, text)))
  if (found?.isFile() === false) return writeTo(await openFor(path, file), file, make)
  const part = partOf(path)
  const handle = await openFor(part, file)
  const remove = (signal: (typeof ENDING_SIGNALS)[number]) => {
    rmSync(part, { force: true })
    process.exit(128 + constants.signals[signal])
  }
  for (const signal of ENDING_SIGNALS) process.once(signal, remove)
  try {
    if (found !== undefined) await handle.chmod(found.mode)
    await writeTo(handle, file, make)
    await replace(part, path).catch((error: unknown) => {
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
 * Writes a whole string to a new file, completely or not at all.
 * @throws the error of the system; EEXIST if there is a file already, which is left unchanged
 */
export async function writeNew(path: string, text: string): Promise<void> {
  const handle = await open(path, 'wx')
  try {
    await handle.writeFile(text)
  } catch (error) {
    await rm(path, { force: true })
    throw error
  } finally {
    await handle.close()
  }
}

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
  const users = new Map<string, string>()
  for (const file of inputs) users.set(await targetOf(resolve(terminal.folder, file)), 'the command reads')
  for (const [option, file] of Object.entries(outputs)) {
    if (file === undefined) continue
    const path = await targetOf(resolve(terminal.folder, file))
    if (descriptorAt(path) !== undefined) continue
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

/**
 * Follows symbolic links, also to a file that does not exist yet. Stops at an open descriptor, such as
 * `/dev/stdout`: its link may name a pipe, or a file that was replaced since.
 */
async function targetOf(path: string): Promise<string> {
  let place = path
  for (let links = 0; links < MOST_LINKS; links += 1) {
    const folder = dirname(place)
    place = join(await realpath(folder).catch(() => folder), basename(place))
    const target = DESCRIPTOR.test(place) ? undefined : await readlink(place).catch(() => undefined)
    if (target === undefined) return place
    place = resolve(dirname(place), target)
  }
  return path
}

/** Maximum number of symbolic links that are followed, as on Linux. */
const MOST_LINKS = 40

/** Matches the path of an open descriptor of a process on Linux. */
const DESCRIPTOR = /^\/proc\/(\d+)\/fd\/(\d+)$/

/** Returns the number of the descriptor of this process that a path names. */
function descriptorAt(path: string): number | undefined {
  const [, id, number] = DESCRIPTOR.exec(path) ?? []
  return Number(id) === process.pid ? Number(number) : undefined
}

/** Replaces a file. A file that is a mount of its own cannot be replaced, so it is overwritten. */
async function replace(part: string, path: string): Promise<void> {
  try {
    await rename(part, path)
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    if (!['EBUSY', 'EXDEV'].includes(code)) throw error
    await copyFile(part, path)
    await rm(part, { force: true })
  }
}

async function writeTo(handle: FileHandle, file: string, make: MakeProduct): Promise<void> {
  try {
    await make((text) => putAll(file, () => handle.writeFile(text)))
  } finally {
    await handle.close()
  }
}

async function putAll(file: string, put: () => Promise<void>): Promise<true> {
  try {
    await put()
    return true
  } catch (error) {
    throw unwritable(error, file)
  }
}

const writeOnce = promisify(write)

/** Writes at the position of the descriptor, which the program that opened it shares. */
async function writeAll(descriptor: number, text: string): Promise<void> {
  const bytes = Buffer.from(text)
  for (let done = 0; done < bytes.length;) done += (await writeOnce(descriptor, bytes, done)).bytesWritten
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
