import { seededRandom } from '@muster/core/clock'
import { hashOf } from '../crowd/generate/streams.js'
import { normal } from '../statistics/normal.js'

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
