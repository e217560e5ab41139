import { seededRandom } from '@muster/core/clock'

/** Chance that is the same for a player in every run of the same seed, whatever else happens in it. */
export interface Luck {
  /** A number from 0 to 1 (exclusive), one for each player. */
  chanceOf(player: string): number
  /** A standard normal number, another one for each `nth`. */
  normalOf(player: string, nth: number): number
}

export function createLuck(seed: number): Luck {
  const streamOf = (player: string, nth: number) => seededRandom(hashOf(`${seed} ${nth} ${player}`))
  return {
    chanceOf: (player) => streamOf(player, -1)(),
    normalOf: (player, nth) => normal(streamOf(player, nth)),
  }
}

/** FNV-1a of the text's UTF-16 units. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  return hash
}

/** By Box and Muller. */
const normal = (random: () => number): number =>
  Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
