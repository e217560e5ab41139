import { InvalidInput } from '@muster/core'
import { rating } from 'openskill'
import type { Crowd, CrowdPlayer } from '../crowd/crowd.js'

/**
 * Brings the `truth` of a crowd's players to the scale of openskill's ratings: the mean becomes its default mu, and the
 * standard deviation its default sigma, which is how far skills are apart before anything is known of them.
 * @throws {InvalidInput} if a player has no truth, or all have the same
 */
export function skillsOf({ parties }: Crowd): (player: CrowdPlayer) => number {
  const { mu, sigma } = rating()
  const truths = parties.flatMap(({ players }) => players.map(truthOf))
  const mean = truths.reduce((sum, truth) => sum + truth, 0) / truths.length
  const deviation = Math.sqrt(truths.reduce((sum, truth) => sum + (truth - mean) ** 2, 0) / truths.length)
  if (!(deviation > 0)) throw new InvalidInput('ratings: all players of the crowd have the same truth')
  return (player) => mu + ((truthOf(player) - mean) / deviation) * sigma
}

function truthOf({ id, truth }: CrowdPlayer): number {
  if (truth !== undefined) return truth
  throw new InvalidInput(`ratings: player ${JSON.stringify(id)} has no truth, which decides who wins`)
}
