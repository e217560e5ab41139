import { crc32 } from 'node:zlib'
import { JOURNAL_HEADER } from './store-format.js'

export const HEADER = JOURNAL_HEADER

/**
 * Returns the line of an entry as version 2 wrote it.
 * @param isAfterForced true if all lines before it are on the disk.
 */
export function lineOf(json: string, isAfterForced = false): string {
  const marked = `${isAfterForced ? '!' : ' '}${json}`
  return `${crc32(marked).toString(16).padStart(8, '0')}${marked}\n`
}
