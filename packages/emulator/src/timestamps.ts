// pure: times as the document writes them
import type { TimestampA, TimestampB } from '@muster/core/api'

/** Both formats are UTC; arguments are epoch milliseconds. Format A: 'YYYY-MM-DD HH:MM:SS.ffffff'. */
export function formatA(ms: number): TimestampA {
  const seconds = Math.floor(ms / 1000)
  // Rounded in whole microseconds, and never up into the next second.
  const micros = Math.min(Math.round((ms - seconds * 1000) * 1000), 999_999)
  const iso = new Date(seconds * 1000).toISOString()
  return `${iso.slice(0, 10)} ${iso.slice(11, 19)}.${String(micros).padStart(6, '0')}`
}

/** Format B: ISO 8601 with milliseconds and a trailing Z. */
export function formatB(ms: number): TimestampB {
  return new Date(ms).toISOString() as TimestampB
}

/** Format A with 1 to 6 digits of the second, as epoch milliseconds; undefined if there is no such time. */
export function parseA(text: string): number | undefined {
  const match = /^(\d{4}-\d{2}-\d{2}) (\d{2}:\d{2}:\d{2})\.(\d{1,6})$/.exec(text)
  if (match === null) return undefined
  const [, date = '', time = '', fraction = ''] = match
  const ms = Date.parse(`${date}T${time}Z`)
  // Date.parse takes 30 February for 2 March.
  if (Number.isNaN(ms) || formatA(ms).slice(0, 10) !== date) return undefined
  return ms + Number(fraction.padEnd(6, '0')) / 1000
}
