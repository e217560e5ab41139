// pure: the result of a replay: the quality of its matches, and percentiles
import { greatCircleKm } from '@muster/core'
import { groupBy, middleOf } from '@muster/core/internal'
import type { Player } from '@muster/hosting/internal'
import type { Matchmaker } from '../matches/index.js'
import type { CancelReason, Ticket } from '../tickets/index.js'

/** The outcome of a ticket. Times are epoch milliseconds, as in the recording. */
export interface ReplayedTicket {
  readonly id: string
  readonly playerIds: readonly string[]
  readonly createdAt: number
  /** `waiting`: the ticket still waited when the replay ended. */
  readonly outcome: 'assigned' | 'waiting' | CancelReason
  readonly endedAt?: number | undefined
  /** Time at which its match was found, if the ticket was assigned. */
  readonly matchedAt?: number | undefined
  /** Name of the queue that matched the ticket, if it was assigned. The same holds for `matchId` and `team`. */
  readonly queue?: string | undefined
  readonly matchId?: string | undefined
  readonly team?: string | undefined
}

/** A match whose server was READY. */
export interface ReplayedMatch {
  readonly matchId: string
  readonly queue: string
  /** Epoch milliseconds at which its first tickets were assigned. */
  readonly assignedAt: number
  readonly tickets: readonly { readonly id: string; readonly team: string | undefined }[]
}

interface MatchSoFar extends Omit<ReplayedMatch, 'matchId' | 'tickets'> {
  readonly tickets: { readonly id: string; readonly team: string | undefined }[]
}

/** Collects the outcomes of a replay's tickets. */
export interface Outcomes {
  /** Records that a ticket is about to be created. */
  expect(ticket: { readonly id: string; readonly players: readonly Player[] }, createdAt: number): void
  /** Removes a ticket that was refused. */
  forget(ticketId: string): void
  /** Records that players have left their match. */
  left(playerIds: readonly string[]): void
  /** Returns the id of the match that a player is in. */
  matchOf(playerId: string): string | undefined
  playersOf(ticketId: string): readonly string[]
  /** Number of tickets that have not ended. */
  readonly waiting: number
  readonly players: ReadonlyMap<string, Player>
  tickets(): ReplayedTicket[]
  matches(): ReplayedMatch[]
}

export function createOutcomes({ on }: Pick<Matchmaker, 'on'>): Outcomes {
  const tickets = new Map<string, ReplayedTicket>()
  const players = new Map<string, Player>()
  const matches = new Map<string, MatchSoFar>()
  const playing = new Map<string, string>()
  let waiting = 0

  const end = ({ id }: Ticket, ending: Partial<ReplayedTicket>) => {
    const ticket = tickets.get(id)
    if (ticket?.outcome !== 'waiting') return
    waiting -= 1
    tickets.set(id, { ...ticket, ...ending })
  }

  on('serverAssigned', ({ matchId, queue, tickets: assigned }) => {
    for (const ticket of assigned) {
      const { id, team, assignedAt = 0, matchedAt } = ticket
      end(ticket, { outcome: 'assigned', endedAt: assignedAt, matchedAt, queue, matchId, team })
      const match = matches.get(matchId) ?? { queue, assignedAt, tickets: [] }
      matches.set(matchId, match)
      match.tickets.push({ id, team })
      for (const player of ticket.players) playing.set(player.id, matchId)
    }
  })
  on('cancelled', ({ ticket, reason }) => end(ticket, { outcome: reason, endedAt: ticket.cancelledAt }))
  on('expired', ({ ticket }) => end(ticket, { outcome: 'expired', endedAt: ticket.cancelledAt }))

  return {
    expect: ({ id, players: party }, createdAt) => {
      // Repeated creates of the same ticket count once.
      if (tickets.get(id)?.outcome === 'waiting') return
      waiting += 1
      tickets.set(id, { id, playerIds: party.map((player) => player.id), createdAt, outcome: 'waiting' })
      for (const player of party) players.set(player.id, player)
    },
    forget: (ticketId) => {
      if (tickets.get(ticketId)?.outcome !== 'waiting') return
      waiting -= 1
      tickets.delete(ticketId)
    },
    left: (playerIds) => {
      for (const id of playerIds) playing.delete(id)
    },
    matchOf: (playerId) => playing.get(playerId),
    playersOf: (ticketId) => tickets.get(ticketId)?.playerIds ?? [],
    get waiting() {
      return waiting
    },
    players,
    tickets: () => [...tickets.values()],
    matches: () => Array.from(matches, ([matchId, match]) => ({ matchId, ...match })),
  }
}

/** Percentiles, each a value of the sample. All are 0 if there are no values. */
export interface Percentiles {
  readonly p50: number
  readonly p90: number
  readonly p99: number
  readonly max: number
}

export function percentilesOf(values: readonly number[]): Percentiles {
  const sorted = values.toSorted((a, b) => a - b)
  const at = (share: number) => sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0
  return { p50: at(0.5), p90: at(0.9), p99: at(0.99), max: at(1) }
}

/** Quality of all matches. Players whose location or attribute is unknown do not count. */
export interface MatchQuality {
  /** Kilometres from each player to the middle of the match. */
  readonly distanceKm: Percentiles
  /** For each number attribute, the highest value in a match minus the lowest. */
  readonly difference: Readonly<Record<string, Percentiles>>
  /**
   * For each number attribute, the difference between the highest and the lowest team average, in matches with several
   * teams.
   */
  readonly imbalance: Readonly<Record<string, Percentiles>>
}

interface MatchedTicket {
  readonly team: string | undefined
  readonly players: readonly Player[]
}

type MatchTickets = readonly MatchedTicket[]

export const qualityOf = (matches: readonly MatchTickets[]): MatchQuality => ({
  distanceKm: percentilesOf(matches.flatMap(distancesOf)),
  difference: percentilesBy(matches.flatMap(differencesOf)),
  imbalance: percentilesBy(matches.flatMap(imbalancesOf)),
})

/** An attribute of a player and its value. */
type AttributeReading = readonly [attribute: string, value: number]

function distancesOf(match: MatchTickets): number[] {
  const places = match.flatMap(({ players }) => players.flatMap(({ coordinates }) => coordinates ?? []))
  const middle = middleOf(places)
  return middle === undefined ? [] : places.map((place) => greatCircleKm(place, middle))
}

const differencesOf = (match: MatchTickets): AttributeReading[] => spreads(numbersOf(match))

function imbalancesOf(match: MatchTickets): AttributeReading[] {
  const teams = [...groupBy(match, ({ team }) => team).values()]
  return spreads(
    teams.flatMap((team) => averages(numbersOf(team))),
    2,
  )
}

const numbersOf = (tickets: readonly MatchedTicket[]): AttributeReading[] =>
  tickets
    .flatMap(({ players }) => players.flatMap(({ attributes = {} }) => Object.entries(attributes)))
    .flatMap(([attribute, value]): AttributeReading[] => (typeof value === 'number' ? [[attribute, value]] : []))

/** Returns the spread of each attribute that has at least `least` values. */
const spreads = (measures: readonly AttributeReading[], least = 1): AttributeReading[] =>
  byAttribute(measures).flatMap(([attribute, values]): AttributeReading[] =>
    values.length < least ? [] : [[attribute, Math.max(...values) - Math.min(...values)]],
  )

const averages = (measures: readonly AttributeReading[]): AttributeReading[] =>
  byAttribute(measures).map(([attribute, values]) => [
    attribute,
    values.reduce((sum, value) => sum + value, 0) / values.length,
  ])

const percentilesBy = (measures: readonly AttributeReading[]) =>
  Object.fromEntries(byAttribute(measures).map(([attribute, values]) => [attribute, percentilesOf(values)]))

const byAttribute = (measures: readonly AttributeReading[]): [attribute: string, values: number[]][] =>
  Array.from(
    groupBy(measures, ([attribute]) => attribute),
    ([attribute, some]) => [attribute, some.map(([, value]) => value)],
  )

/** The quality of all matches, and of each queue that made any match. */
export interface ReplaySummary extends QueueSummary {
  /** Number of players in tickets. */
  readonly players: number
  readonly tickets: number
  /** Share of the players who got a server's address, from 0 to 1. */
  readonly matchedShare: number
  /** Number of the players who got no server's address, by the outcome of their tickets. */
  readonly unmatched: Readonly<Record<string, number>>
  readonly queues: Readonly<Record<string, QueueSummary>>
}

export interface QueueSummary {
  readonly matches: number
  /** Milliseconds from a ticket's creation until its players got the server's address, counted for each player. */
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
