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

const draw = (random: Random) =>
  Math.floor(random() * 32 ** CHARACTERS_PER_DRAW)
    .toString(32)
    .padStart(CHARACTERS_PER_DRAW, '0')

/** Makes an id of 21 characters, 0–9 and a–v: about 100 bits, if `random` gives that many. */
export const newId = (random: Random): string => draw(random) + draw(random) + draw(random)
