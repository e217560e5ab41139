import { CROWD_FORMAT, type Crowd, type CrowdPlayer } from '../crowd/crowd.js'
import type { MatchOutcome, RunOutcome, TicketOutcome } from '../run/outcome.js'

/** A party that comes once: its skills, the seconds between which it is in the queue, and its match. */
export interface Guest extends Pick<CrowdPlayer, 'coordinates' | 'latencies'> {
  readonly skills: readonly number[]
  readonly from: number
  readonly until: number
  readonly match?: number | undefined
  readonly side?: string | undefined
}

/** Creates a run with these parties and matches. */
export function runOf(guests: readonly Guest[]): { crowd: Crowd; outcome: RunOutcome } {
  const crowd: Crowd = {
    header: { format: CROWD_FORMAT, startsAt: 0, durationMs: 60_000 },
    parties: guests.map(({ skills, from, side = '', coordinates, latencies }, party) => ({
      id: `party-${party}`,
      at: 1000 * from,
      players: skills.map((skill, place) => ({
        id: `player-${party}-${place}`,
        attributes: { skill, side },
        coordinates,
        latencies,
      })),
      visits: [{ patienceMs: 60_000, playMs: 60_000 }],
    })),
  }
  const tickets = guests.map(({ from, until, match }, party): TicketOutcome => {
    const base = { party, visit: 0, createdAt: 1000 * from }
    if (match === undefined) return { ...base, end: 'gaveUp', endedAt: 1000 * until }
    return { ...base, end: 'assigned', matchedAt: 1000 * until, endedAt: 1000 * until + 5000, match }
  })
  const count = Math.max(-1, ...guests.map(({ match = -1 }) => match)) + 1
  const matches = Array.from({ length: count }, (_, match): MatchOutcome => {
    const own = tickets.flatMap((ticket, index) => (ticket.match === match ? [index] : []))
    const foundAt = Math.max(0, ...own.map((index) => tickets[index]?.matchedAt ?? 0))
    return { queue: 'queue', foundAt, assignedAt: foundAt + 1000, tickets: own }
  })
  const servers = { created: count, most: count, seconds: 0, bootSeconds: 0, idleSeconds: 0 }
  return { crowd, outcome: { tickets, matches, servers, pools: {}, requests: {}, endedAt: 60_000 } }
}
