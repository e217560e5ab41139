import { randomFillSync } from 'node:crypto'
import type { Random } from '../time.js'

/**
 * Pool of random numbers. They are drawn in blocks of 1024, because a system call takes as long for many numbers as for
 * few.
 */
const pool = new Uint32Array(1024)
let used = pool.length

/** The default random source. It is unpredictable, because a guessed id may be enough to read a ticket. */
export const unguessable: Random = () => {
  if (used === pool.length) {
    randomFillSync(pool)
    used = 0
  }
  const high = pool[used] as number
  const low = pool[used + 1] as number
  used += 2
  // A fraction below 1 holds 52 random bits.
  return ((high >>> 12) * 2 ** 32 + low) / 2 ** 52
}

const DIGITS = Array.from('0123456789abcdefghijklmnopqrstuv', (digit) => digit.charCodeAt(0))
const PER_DRAW = 7
/** The characters of the id that is being created. */
const codes = new Array<number>(3 * PER_DRAW).fill(0)

/**
 * Creates an id of 21 characters, 0–9 and a–v: about 100 bits, if `random` gives that many. The string is created in
 * one call, because every ticket and every match needs an id, and joining parts takes four times as long.
 */
export function newId(random: Random): string {
  let fraction = 0
  for (let index = 0; index < codes.length; index += 1) {
    fraction = 32 * (index % PER_DRAW === 0 ? random() : fraction)
    const digit = Math.floor(fraction)
    fraction -= digit
    codes[index] = DIGITS[digit] as number
  }
  return String.fromCharCode(...codes)
}
