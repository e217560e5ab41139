import { randomFillSync } from 'node:crypto'
import type { Random } from '../time.js'

/**
 * Random numbers are drawn in blocks of 1024, because one call of the system takes about as long for many as for few.
 */
const pool = new Uint32Array(1024)
let used = pool.length

/**
 * The default random source is unpredictable, because anyone who guesses a ticket's id may be able to read the ticket.
 */
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

const CHARACTERS_PER_DRAW = 7
const CODES = Uint8Array.from('0123456789abcdefghijklmnopqrstuv', (character) => character.charCodeAt(0))

/** The character of the number's last base-32 digit. */
const code = (number: number): number => CODES[number & 31] as number

/**
 * Makes an id of 21 characters, 0–9 and a–v: about 100 bits, if `random` gives that many. The string is built in one
 * call, because every ticket and every match needs an id: joining parts takes four times as long, and costs again when
 * the id is first looked up.
 */
export function newId(random: Random): string {
  const a = draw(random)
  const b = draw(random)
  const c = draw(random)
  // Bitwise operators work on 32 bits, so the bits above are taken by division.
  const overA = high(a)
  const overB = high(b)
  const overC = high(c)
  return String.fromCharCode(
    code(overA >> 10), code(overA >> 5), code(overA), code(a >>> 15), code(a >>> 10), code(a >>> 5), code(a),
    code(overB >> 10), code(overB >> 5), code(overB), code(b >>> 15), code(b >>> 10), code(b >>> 5), code(b),
    code(overC >> 10), code(overC >> 5), code(overC), code(c >>> 15), code(c >>> 10), code(c >>> 5), code(c),
  )
}

const draw = (random: Random) => Math.floor(random() * 32 ** CHARACTERS_PER_DRAW)
const high = (drawn: number) => Math.floor(drawn / 32 ** 4)
