import { seededRandom, type Random } from '@muster/core/clock'
import type { Player, TicketInput } from '@muster/matchmaker'
import type { DemoOptions } from './options.js'
import { loadPlayers, type Player as Located } from './players.js'
import { demoQueues, type DemoQueue } from './queues.js'

/** A ticket, and the time at which it is created. */
export interface Arrival {
  /** Milliseconds after the start. */
  readonly afterMs: number
  readonly ticket: TicketInput & { readonly queue: string }
}

export interface Crowd {
  /** The arrivals, in order of time. */
  readonly arrivals: readonly Arrival[]
  /** The locations of players, by IP address. */
  readonly places: ReadonlyMap<string, Located>
}

/** Milliseconds within which all players arrive. */
export const ARRIVE_MS = 8000

/** The possible roles of a player. Most play damage, and half of these can play another role too. */
const ROLES: readonly (readonly string[])[] = [
  ['damage'],
  ['damage'],
  ['tank'],
  ['healer'],
  ['damage', 'tank'],
  ['damage', 'healer'],
  ['damage', 'tank', 'healer'],
  ['tank', 'healer'],
]
/** One in this number of players avoids the player before them in the list. */
const AVOIDS = 40

/** Draws players from the sample, and the times at which they arrive. The rate of arrivals rises and then falls. */
export function gather({ players: count, queueSize, seed }: DemoOptions, overMs: number): Crowd {
  const random = seededRandom(seed)
  const sample = loadPlayers()
  const first = Math.floor(random() * sample.length)
  const chosen = Array.from({ length: count }, (_, index) => sample[(first + index) % sample.length] as Located)
  const queues = demoQueues(queueSize)
  const sizes = split(count, queues)

  const arrivals: Arrival[] = []
  let taken = 0
  for (const [index, queue] of queues.entries()) {
    const members = chosen.slice(taken, taken + (sizes[index] ?? 0))
    arrivals.push(...arrivalsOf(queue, members, taken, overMs, random))
    taken += members.length
  }
  return {
    arrivals: arrivals.toSorted((a, b) => a.afterMs - b.afterMs),
    places: new Map(chosen.map((player) => [player.ip, player])),
  }
}

/**
 * Draws the roles of a player. A party that fills most of a team has exactly one tank and one healer, because it would
 * be refused otherwise.
 */
function rolesOf(index: number, partySize: number, random: Random): readonly string[] {
  if (partySize >= 4 && index < 2) return [index === 0 ? 'tank' : 'healer']
  return ROLES[Math.floor(random() * ROLES.length)] as readonly string[]
}

/** Returns the number of players of each queue. Together they are `count`. */
function split(count: number, queues: readonly DemoQueue[]): number[] {
  const sizes = queues.map(({ share }) => Math.floor(count * share))
  const rest = count - sizes.reduce((sum, size) => sum + size, 0)
  return sizes.map((size, index) => (index === 0 ? size + rest : size))
}

/** Creates the arrivals of a queue. @param from number of the first of these players. */
function arrivalsOf(
  { definition, parties }: DemoQueue,
  members: readonly Located[],
  from: number,
  overMs: number,
  random: Random,
): Arrival[] {
  // Friends live in the same country, so players are sorted by location before they are divided into parties.
  const neighbours = members.toSorted((a, b) => a.country.localeCompare(b.country, 'en') || a.longitude - b.longitude)
  const arrivals: Arrival[] = []
  for (let next = 0; next < neighbours.length;) {
    const wanted = parties[Math.floor(random() * parties.length)] as number
    const party = neighbours.slice(next, next + wanted)
    const together = party.filter(({ country }) => country === party[0]?.country)
    const level = 1500 + 300 * (random() + random() + random() - 1.5)
    const players = together.map(({ ip }, index): Player => {
      const number = from + next + index
      return {
        id: `player-${number}`,
        ip,
        attributes: { skill: Math.round(level + 120 * (random() - 0.5)) },
        roles: rolesOf(index, together.length, random),
        ...(random() < 1 / AVOIDS &&
          number > from + together.length && { avoid: [`player-${number - together.length - 1}`] }),
      }
    })
    arrivals.push({ afterMs: ((random() + random()) / 2) * overMs, ticket: { queue: definition.name, players } })
    next += together.length
  }
  return arrivals
}
