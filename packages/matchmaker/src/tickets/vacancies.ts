// pure: who is in a match, and who is missing
import type { TeamShape } from '@muster/kernel'
import type { RuleTicket } from '../queues/rule-parts/rule-checks.js'

/** A ticket of a match, and the index of its team. */
export interface Placed {
  readonly ticket: RuleTicket
  readonly team: number
}

/** For each team of a match, the tickets in it. */
export type Present = readonly (readonly RuleTicket[])[]

/** For each team of a match: how many more players it takes, and the tickets in it. */
export interface Vacancies {
  readonly rooms: readonly number[]
  readonly present: Present
}

export const countPlayers = (tickets: readonly RuleTicket[]): number =>
  tickets.reduce((sum, { players }) => sum + players.length, 0)

const inTeam = (placed: readonly Placed[], team: number) =>
  placed.flatMap((one) => (one.team === team ? [one.ticket] : []))

export const presentIn = (teams: readonly TeamShape[], placed: readonly Placed[]): Present =>
  teams.map((_, team) => inTeam(placed, team))

/** How many players each team lacks. */
export const roomsBeside = (teams: readonly TeamShape[], present: Present): number[] =>
  teams.map(({ max }, team) => Math.max(0, max - countPlayers(present[team] ?? [])))

/** The vacancies after tickets have joined. */
export const filled = ({ rooms, present }: Vacancies, placed: readonly Placed[]): Vacancies => ({
  rooms: rooms.map((room, team) => Math.max(0, room - countPlayers(inTeam(placed, team)))),
  present: present.map((tickets, team) => [...tickets, ...inTeam(placed, team)]),
})

/** The vacancies after tickets have left that are to be replaced. */
export const vacated = ({ rooms, present }: Vacancies, placed: readonly Placed[]): Vacancies => {
  const gone = new Set(placed.map(({ ticket }) => ticket))
  return {
    rooms: rooms.map((room, team) => room + countPlayers(inTeam(placed, team))),
    present: present.map((tickets) => tickets.filter((ticket) => !gone.has(ticket))),
  }
}

/** The ticket without these players; undefined if nobody is left. */
const withoutPlayers = (ticket: RuleTicket, gone: ReadonlySet<string>): RuleTicket | undefined => {
  const players = ticket.players.filter(({ id }) => !gone.has(id))
  if (players.length === ticket.players.length) return ticket
  return players.length === 0 ? undefined : { ...ticket, players }
}

/** The vacancies after players have left who are not replaced. */
export const deserted = ({ rooms, present }: Vacancies, gone: ReadonlySet<string>): Vacancies => ({
  rooms,
  present: present.map((tickets) => tickets.flatMap((ticket) => withoutPlayers(ticket, gone) ?? [])),
})

/** The tickets in the match without these players. */
export const remaining = (placed: readonly Placed[], gone: ReadonlySet<string>): Placed[] =>
  placed.flatMap(({ ticket, team }) => {
    const left = withoutPlayers(ticket, gone)
    return left === undefined ? [] : [{ ticket: left, team }]
  })
