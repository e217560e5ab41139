import { defineQueue, type Queue, type QueueDefinition } from '@muster/matchmaker'
import { CROWD_FORMAT, type Crowd, type CrowdParty, type CrowdPlayer } from '../crowd/crowd.js'
import type { MatchOutcome, RunOutcome, TicketOutcome } from '../run/outcome.js'

/** A crowd of parties that each come once, at the start. */
export const crowdOf = (parties: readonly (readonly Omit<CrowdPlayer, 'id'>[])[]): Crowd => ({
  header: { format: CROWD_FORMAT, startsAt: 0, durationMs: 3_600_000 },
  parties: parties.map((players, party): CrowdParty => ({
    id: `party-${party}`,
    at: 0,
    players: players.map((player, place) => ({ id: `player-${party}-${place}`, ...player })),
    visits: [{ patienceMs: 60_000, playMs: 600_000 }],
  })),
})

/** The outcome of each party of a crowd: match and team if it was matched, and its wait. */
export type Fate =
  | { readonly match: number; readonly team?: string; readonly waitMs: number }
  | { readonly end: Exclude<TicketOutcome['end'], 'assigned'> }

/** @param queueOf returns the queue of each match. */
export function outcomeOf(fates: readonly Fate[], queueOf: (match: number) => string = () => 'queue'): RunOutcome {
  const tickets = fates.map((fate, party): TicketOutcome => {
    const base = { party, visit: 0, createdAt: 0 }
    if ('end' in fate) return { ...base, end: fate.end, endedAt: 60_000 }
    return { ...base, end: 'assigned', matchedAt: fate.waitMs, match: fate.match, team: fate.team ?? 'team' }
  })
  const count = Math.max(-1, ...fates.map((fate) => ('match' in fate ? fate.match : -1))) + 1
  const matches = Array.from({ length: count }, (_, match): MatchOutcome => {
    const own = tickets.flatMap((ticket, index) => (ticket.match === match ? [index] : []))
    const foundAt = Math.max(0, ...own.map((index) => tickets[index]?.matchedAt ?? 0))
    return { queue: queueOf(match), foundAt, assignedAt: foundAt + 1000, tickets: own }
  })
  return {
    tickets,
    matches,
    servers: { created: count, most: count, seconds: 5400, bootSeconds: 60, idleSeconds: 0 },
    pools: {},
    requests: { createDeployment: { total: count, busiest: 2, limit: 40, windowMs: 1000 } },
    endedAt: 3_600_000,
  }
}

export const queueOf = (definition: Partial<QueueDefinition> = {}): Queue =>
  defineQueue({ name: 'queue', matchSize: 2, deploy: { application: 'game', version: '1' }, ...definition })
