import { randomFillSync } from 'node:crypto'
import type { Random } from '@muster/core/clock'

/** Random bits are had many at once: to have them takes as long for a few. */
const pool = new Uint32Array(1024)
let used = pool.length

/** The default: cannot be foreseen, because who knows a ticket's id may often see the ticket. */
export const unguessable: Random = () => {
  if (used === pool.length) {
    randomFillSync(pool)
    used = 0
  }
  const [high, low] = [pool[used] as number, pool[used + 1] as number]
  used += 2
  // The 52 bits that a number below 1 has room for.
  return ((high >>> 12) * 2 ** 32 + low) / 2 ** 52
}

const CHARACTERS_PER_DRAW = 7
const CODES = Uint8Array.from('0123456789abcdefghijklmnopqrstuv', (character) => character.charCodeAt(0))

/** The character of the last digit, to base 32. */
const code = (number: number): number => CODES[number & 31] as number

/**
 * 21 characters of 0–9 and a–v: some 100 bits, as far as `random` has them. Made in one piece, because every ticket and
 * every match needs one: to put it together takes four times as long, and again when it is first looked for.
 */
export function newId(random: Random): string {
  const [a, b, c] = [draw(random), draw(random), draw(random)]
  // What is beyond 32 bits, for operators that know no more.
  const [overA, overB, overC] = [high(a), high(b), high(c)]
  return String.fromCharCode(
    code(overA >> 10), code(overA >> 5), code(overA), code(a >>> 15), code(a >>> 10), code(a >>> 5), code(a),
    code(overB >> 10), code(overB >> 5), code(overB), code(b >>> 15), code(b >>> 10), code(b >>> 5), code(b),
    code(overC >> 10), code(overC >> 5), code(overC), code(c >>> 15), code(c >>> 10), code(c >>> 5), code(c),
  )
}

const draw = (random: Random) => Math.floor(random() * 32 ** CHARACTERS_PER_DRAW)
const high = (drawn: number) => Math.floor(drawn / 32 ** 4)
