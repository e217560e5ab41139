import { createReadStream } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { nearestName } from '@muster/core/internal'

/** The content of a file, or the reason why it cannot be read. The reason follows the file's name in a message. */
export type TextOfFile = { readonly text: string; readonly wrong?: undefined } | { readonly wrong: string }

/** Reads a UTF-8 file. Reads at most one byte more than `mostBytes`, so that an endless device does not block. */
export async function readTextFile(path: string, mostBytes: number): Promise<TextOfFile> {
  try {
    // `end` is inclusive: one byte more than allowed shows that the file is too large.
    const bytes = await buffer(createReadStream(path, { end: mostBytes }))
    if (bytes.length > mostBytes) return { wrong: `is larger than ${mostBytes} bytes` }
    return textOf(bytes)
  } catch (error) {
    return { wrong: await unreadableWords(error, path) }
  }
}

function textOf(bytes: Uint8Array): TextOfFile {
  const [first, second] = bytes
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff))
    return { wrong: 'is UTF-16: save it as UTF-8' }
  try {
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) }
  } catch {
    return { wrong: 'is not UTF-8: save it as UTF-8' }
  }
}

/** Returns the reason why a file cannot be read. The reason follows the file's name in a message. */
export async function unreadableWords(error: unknown, path: string): Promise<string> {
  switch ((error as NodeJS.ErrnoException).code) {
    case 'ENOENT':
      return `does not exist${await didYouMeanFile(path)}`
    case 'ENOTDIR':
      return 'does not exist: a part of its path is not a folder'
    case 'EISDIR':
      return 'is a folder: name the file in it'
    case 'EACCES':
    case 'EPERM':
      return 'may not be read by this user'
    default:
      return `cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown error'})`
  }
}

async function didYouMeanFile(path: string): Promise<string> {
  const names = await readdir(dirname(path)).catch(() => [])
  const near = nearestName(basename(path), names)
  return near === undefined ? '' : `; did you mean ${join(dirname(path), near)}?`
}
