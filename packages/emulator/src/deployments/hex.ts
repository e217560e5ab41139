import type { Random } from '@muster/core/clock'

/** A random id or token of the given number of hexadecimal digits. */
export const hex = (digits: number, random: Random): string =>
  Array.from({ length: digits }, () => Math.floor(random() * 16).toString(16)).join('')
