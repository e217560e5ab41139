// pure: how good a replay was
import type { Player } from '@muster/servers'
import type { ReplayedTicket } from './outcomes.js'
import { groupBy, type Percentiles, percentilesOf } from './percentiles.js'
import { qualityOf, type MatchQuality } from './quality.js'

/** The quality of all matches, and of those of each queue that made any. */
export interface ReplaySummary extends QueueSummary {
  /** Players in tickets. */
  readonly players: number
  readonly tickets: number
  /** Share of the players who were told where to connect, from 0 to 1. */
  readonly matchedShare: number
  /** Number of other players, by the outcome of their tickets. */
  readonly unmatched: Readonly<Record<string, number>>
  readonly queues: Readonly<Record<string, QueueSummary>>
}

export interface QueueSummary {
  readonly matches: number
  /** Milliseconds from a ticket's creation until its players were told where to connect; counted once per player. */
  readonly waitMs: Percentiles
  readonly quality: MatchQuality
}

export function summarize(tickets: readonly ReplayedTicket[], players: ReadonlyMap<string, Player>): ReplaySummary {
  const assigned = tickets.filter(({ outcome }) => outcome === 'assigned')
  const queues = groupBy(assigned, ({ queue = '' }) => queue)
  const unmatched = new Map<string, number>()
  for (const { outcome, playerIds } of tickets) {
    if (outcome !== 'assigned') unmatched.set(outcome, (unmatched.get(outcome) ?? 0) + playerIds.length)
  }
  const count = countPlayers(tickets)
  return {
    players: count,
    tickets: tickets.length,
    matchedShare: count === 0 ? 0 : countPlayers(assigned) / count,
    unmatched: Object.fromEntries(unmatched),
    ...summarizeQueue(assigned, players),
    queues: Object.fromEntries(Array.from(queues, ([name, some]) => [name, summarizeQueue(some, players)])),
  }
}

function summarizeQueue(assigned: readonly ReplayedTicket[], players: ReadonlyMap<string, Player>): QueueSummary {
  const matches = [...groupBy(assigned, ({ matchId }) => matchId).values()]
  const waits = assigned.flatMap(({ playerIds, createdAt, endedAt = createdAt }) =>
    playerIds.map(() => endedAt - createdAt),
  )
  const withPlayers = ({ team, playerIds }: ReplayedTicket) => ({
    team,
    players: playerIds.flatMap((id) => players.get(id) ?? []),
  })
  return {
    matches: matches.length,
    waitMs: percentilesOf(waits),
    quality: qualityOf(matches.map((match) => match.map(withPlayers))),
  }
}

const countPlayers = (tickets: readonly ReplayedTicket[]) =>
  tickets.reduce((sum, { playerIds }) => sum + playerIds.length, 0)
