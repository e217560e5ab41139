import type { Random } from '@muster/core/clock'

/** An id or token of so many hexadecimal digits. */
export const hex = (digits: number, random: Random): string =>
  Array.from({ length: digits }, () => Math.floor(random() * 16).toString(16)).join('')
