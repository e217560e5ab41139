import { crc32 } from 'node:zlib'
import { JOURNAL_HEADER } from './store-format.js'

export const HEADER = JOURNAL_HEADER

/**
 * Returns a line in the format of version 2.
 * @param isAfterForced true if all earlier lines are on the disk
 */
export function lineOf(json: string, isAfterForced = false): string {
  const marked = `${isAfterForced ? '!' : ' '}${json}`
  return `${crc32(marked).toString(16).padStart(8, '0')}${marked}\n`
}
