import { randomInt } from 'node:crypto'
import type { Random } from '@muster/core/clock'

/** The default: cannot be foreseen, because who knows a ticket's id may often see the ticket. */
export const unguessable: Random = () => randomInt(2 ** 47) / 2 ** 47

const CHARACTERS_PER_DRAW = 7
/** Any two characters by their number; made once, because every ticket and every match needs an id. */
const PAIRS = Array.from({ length: 32 ** 2 }, (_, number) => number.toString(32).padStart(2, '0'))

const pair = (number: number): string => PAIRS[number & (32 ** 2 - 1)] as string

/** The last seven digits of a number, to base 32. */
function digits(number: number): string {
  const high = Math.floor(number / 32 ** 4)
  return pair(high >> 10).slice(1) + pair(high) + pair(number >>> 10) + pair(number)
}

/** 21 characters of 0–9 and a–v: some 100 bits, as far as `random` has them. */
export function newId(random: Random): string {
  const draw = () => digits(Math.floor(random() * 32 ** CHARACTERS_PER_DRAW))
  return draw() + draw() + draw()
}
