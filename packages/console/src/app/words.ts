// pure: moments, waits and money in words
import { duration, grouped } from '../parts/index.js'

/** Formats a wait, short enough for a table: `0.4 s`, `12 s`, `3 min 20 s`. A dash for null. */
export function wait(ms: number | null): string {
  if (ms === null) return '–'
  if (ms < 9950) return `${(Math.max(0, ms) / 1000).toFixed(1)} s`
  return duration(Math.round(ms / 1000) * 1000)
}

/** Formats a whole number. A dash if it is unknown. */
export const countOrDash = (number: number | null): string => (number === null ? '–' : grouped(Math.round(number)))

/** Formats the age of a time, rounded so that the text seldom changes: `12 s ago`, `3 min ago`, `just now`. */
export function ago(moment: number, now: number): string {
  const ms = Math.max(0, now - moment)
  if (ms < 2000) return 'just now'
  if (ms < 60_000) return `${Math.floor(ms / 1000)} s ago`
  if (ms < 3_600_000) return `${Math.floor(ms / 60_000)} min ago`
  return `${duration(Math.floor(ms / 60_000) * 60_000)} ago`
}

/** Formats the time of day in the page's time zone: `14:05:09`. */
export const timeOfDay = (moment: number): string => new Date(moment).toTimeString().slice(0, 8)

/** Formats the time of day without seconds. */
export const hourAndMinute = (moment: number): string => timeOfDay(moment).slice(0, 5)

/** Formats an amount of money: `€1.20`, `USD 0.004`. Small amounts keep two significant digits. */
export function money(amount: number, currency: string): string {
  const digits = amount !== 0 && Math.abs(amount) < 0.1 ? { maximumSignificantDigits: 2 } : { maximumFractionDigits: 2 }
  try {
    return amount.toLocaleString('en-US', { style: 'currency', currency, ...digits })
  } catch {
    // The currency is no ISO 4217 code, e.g. `points`.
    return `${amount.toLocaleString('en-US', digits)} ${currency}`
  }
}

/** Formats a number for an axis or a small space: `950`, `1.2k`, `3.4M`. */
export function short(number: number): string {
  const size = Math.abs(number)
  if (size >= 999_500) return `${(number / 1_000_000).toFixed(size < 9_950_000 ? 1 : 0).replace(/\.0$/, '')}M`
  if (size >= 1000) return `${(number / 1000).toFixed(size < 9950 ? 1 : 0).replace(/\.0$/, '')}k`
  return String(Math.round(number * 10) / 10)
}

/** Formats a percentage: `12 %`. */
export const percent = (share: number): string => `${Math.round(share * 100)} %`

/** Formats server hours: `0.4 h`, `12 h`. */
export const hours = (count: number): string =>
  `${count.toLocaleString('en-US', { maximumFractionDigits: count < 9.95 ? 1 : 0 })} h`

/** Returns a message as a sentence, with a capital letter and a full stop. */
export const sentence = (message: string): string =>
  message.charAt(0).toUpperCase() + message.slice(1) + (/[.!?…:]$/.test(message) ? '' : '.')
