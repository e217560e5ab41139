// pure: times in the specification's formats
import type { TimestampA, TimestampB } from '@muster/core/internal'

/** Formats epoch milliseconds in format A: UTC as 'YYYY-MM-DD HH:MM:SS.ffffff'. */
export function formatA(ms: number): TimestampA {
  const seconds = Math.floor(ms / 1000)
  // Microseconds are rounded, but not up into the next second.
  const micros = Math.min(Math.round((ms - seconds * 1000) * 1000), 999_999)
  const iso = new Date(seconds * 1000).toISOString()
  return `${iso.slice(0, 10)} ${iso.slice(11, 19)}.${String(micros).padStart(6, '0')}`
}

/** Returns the times of creation and last change of a record, in format A: `YYYY-MM-DD HH:MM:SS.ffffff`. */
export const datesOf = ({ createdAt, updatedAt }: { readonly createdAt: number; readonly updatedAt: number }) => ({
  create_time: formatA(createdAt),
  last_updated: formatA(updatedAt),
})

/** Formats epoch milliseconds in format B: UTC, ISO 8601 with milliseconds and a trailing Z. */
export function formatB(ms: number): TimestampB {
  return new Date(ms).toISOString() as TimestampB
}

/**
 * Parses a time in format A with 1 to 6 decimals of the second. Returns epoch milliseconds; undefined for an invalid
 * time.
 */
export function parseA(text: string): number | undefined {
  const match = /^(\d{4}-\d{2}-\d{2}) (\d{2}:\d{2}:\d{2})\.(\d{1,6})$/.exec(text)
  if (match === null) return undefined
  const [, date = '', time = '', fraction = ''] = match
  const ms = Date.parse(`${date}T${time}Z`)
  // Date.parse accepts 30 February as 2 March, so the date is compared with the input.
  if (Number.isNaN(ms) || formatA(ms).slice(0, 10) !== date) return undefined
  return ms + Number(fraction.padEnd(6, '0')) / 1000
}
