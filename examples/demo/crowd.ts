import { seededRandom } from '@muster/core/clock'
import type { TicketInput } from '@muster/matchmaker'
import type { DemoOptions } from './options.js'
import { loadPlayers, type Player } from './players.js'

/** A ticket, and when it comes. */
export interface Arrival {
  /** Milliseconds after the start. */
  readonly afterMs: number
  readonly ticket: TicketInput
}

export interface Crowd {
  /** In the order in which they come. */
  readonly arrivals: readonly Arrival[]
  readonly places: ReadonlyMap<string, Player>
}

/** One in five comes with friends. */
const partySizes = [1, 1, 1, 1, 1, 1, 1, 1, 2, 3] as const

/** Draws players from the sample, and when they come: more and more, then fewer and fewer. */
export function gather({ players: count, queueSize, seed }: DemoOptions, overMs: number): Crowd {
  const random = seededRandom(seed)
  const sample = loadPlayers()
  const first = Math.floor(random() * sample.length)
  const chosen = Array.from({ length: count }, (_, index) => sample[(first + index) % sample.length] as Player)
  // Friends live in the same country, so who is alike stands together before parties are cut off.
  const neighbours = chosen.toSorted((a, b) => (a.country < b.country ? -1 : a.country > b.country ? 1 : a.longitude - b.longitude))

  const arrivals: Arrival[] = []
  for (let next = 0; next < count; ) {
    const wanted = partySizes[Math.floor(random() * partySizes.length)] as number
    const party = neighbours.slice(next, next + Math.min(wanted, queueSize))
    const together = party.filter(({ country }) => country === party[0]?.country)
    const players = together.map(({ ip }, index) => ({ id: `player-${next + index}`, ip }))
    arrivals.push({ afterMs: ((random() + random()) / 2) * overMs, ticket: { queue: 'demo', players } })
    next += together.length
  }
  return {
    arrivals: arrivals.toSorted((a, b) => a.afterMs - b.afterMs),
    places: new Map(chosen.map((player) => [player.ip, player])),
  }
}
