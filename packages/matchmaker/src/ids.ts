import { randomInt } from 'node:crypto'
import type { Random } from '@muster/core/clock'

/** The default: cannot be foreseen, because who knows a ticket's id may often see the ticket. */
export const unguessable: Random = () => randomInt(2 ** 47) / 2 ** 47

const CHARACTERS_PER_DRAW = 7

/** 21 characters of 0–9 and a–v: some 100 bits, as far as `random` has them. */
export function newId(random: Random): string {
  const draw = () =>
    Math.floor(random() * 32 ** CHARACTERS_PER_DRAW)
      .toString(32)
      .padStart(CHARACTERS_PER_DRAW, '0')
  return draw() + draw() + draw()
}
