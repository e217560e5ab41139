import { InvalidTicket } from '../../errors.js'
import type { Grouped, Pool } from '@muster/kernel'
import type { CompiledQueue } from '../compile.js'
import type { QueueDefinition } from '../queue.js'
import type { Facts, RuleTicket } from '../rule-parts/rule-types.js'
import { brokenRules, wrongSizes } from './oracle.fixture.js'
import type { JudgedTeam } from './oracle-limits.fixture.js'
import { namesOf } from '../rule-parts/teams.js'

/** Returns undefined for a ticket that the queue refuses. */
export function admitted<T>(enter: () => T): T | undefined {
  try {
    return enter()
  } catch (error) {
    if (error instanceof InvalidTicket) return undefined
    throw error
  }
}

/** Yields all matches of a round. @param step units of work at a time; 0 for the whole round in one step. */
export function* matchesOf(pool: Pool<Facts>, now: number, step: number): Generator<Grouped> {
  if (step === 0) return yield* pool.group(now)
  const round = pool.round(now)
  while (round.step(step)) yield* round.take()
  yield* round.take()
}

/**
 * Returns the opening of a running match of one ticket. The ticket is in the first team at or after `from` that has
 * room for it. The other places are free.
 */
export function openingOf({ model, openingOf }: CompiledQueue, ticket: RuleTicket, from: number) {
  const size = ticket.players.length
  const team = model.teams.findIndex(({ max }, index) => index >= from % model.teams.length && max >= size)
  if (team < 0) return undefined
  const rooms = model.teams.map(({ max }, index) => (index === team ? max - size : max))
  if (!rooms.some((room) => room > 0)) return undefined
  return admitted(() =>
    openingOf({ ...ticket, rooms, present: model.teams.map((_, index) => (index === team ? [ticket] : [])) }),
  )
}

/** Returns the kind of each team of a match, as its definition names it. */
export const kindsOfTeams = ({ teams = [] }: QueueDefinition): string[] =>
  teams.flatMap((team) => namesOf(team).map(() => team.name))

/** A running match of one ticket. */
export interface RunningMatch {
  readonly ticket: RuleTicket
  readonly team: number
}

/**
 * True if any match can be made of these tickets, or any of them can join the running match. Tries each ticket in each
 * team or none.
 */
export const anyMatch = (
  definition: QueueDefinition,
  waiting: readonly RuleTicket[],
  now: number,
  running?: RunningMatch,
): boolean => canMatch(definition, waiting, now, running, (players) => players > 0)

/** True if a match can be made of all these tickets. Tries each ticket in each team. */
export const allMatch = (
  definition: QueueDefinition,
  members: readonly RuleTicket[],
  now: number,
  running?: RunningMatch,
): boolean => canMatch(definition, members, now, running, (tickets) => tickets === members.length)

function canMatch(
  definition: QueueDefinition,
  waiting: readonly RuleTicket[],
  now: number,
  running: RunningMatch | undefined,
  isEnough: (tickets: number) => boolean,
): boolean {
  const teams = (definition.teams ?? []).flatMap((team) => namesOf(team).map(() => team))
  const seats: RuleTicket[][] = teams.map((_, team) => (running?.team === team ? [running.ticket] : []))
  const room = teams.map(
    ({ size }, team) => (typeof size === 'number' ? size : size.max) - (seats[team]?.[0]?.players.length ?? 0),
  )
  const playing = running === undefined ? [] : [running.ticket]

  const isMatch = () => {
    const match = seats.map((tickets, team) => ({ kind: teams[team]?.name ?? '', tickets }))
    if (!isEnough(match.flatMap((team) => team.tickets).length - playing.length)) return false
    if (running === undefined && wrongSizes(definition, match, now).length > 0) return false
    if (brokenRules(definition, match, now, playing).length > 0) return false
    return isEvenInNumber(definition, match, now, running)
  }
  const from = (at: number): boolean => {
    const ticket = waiting[at]
    if (ticket === undefined) return isMatch()
    const size = ticket.players.length
    for (const [team, tickets] of seats.entries()) {
      if (size > (room[team] as number)) continue
      tickets.push(ticket)
      room[team] = (room[team] as number) - size
      const there = from(at + 1)
      tickets.pop()
      room[team] = (room[team] as number) + size
      if (there) return true
    }
    return from(at + 1)
  }
  return from(0)
}

/**
 * True if no other teams of the same tickets are more even in number and satisfy all rules except balance rules. Always
 * true in queues without a balance rule.
 */
function isEvenInNumber(
  definition: QueueDefinition,
  match: readonly JudgedTeam[],
  now: number,
  running: RunningMatch | undefined,
): boolean {
  const { rules = [], teams = [] } = definition
  if (!rules.some(({ kind }) => kind === 'balance')) return true
  const others = { ...definition, rules: rules.filter(({ kind }) => kind !== 'balance') }
  const most = teams.flatMap((team) =>
    namesOf(team).map(() => (typeof team.size === 'number' ? team.size : team.size.max)),
  )
  const playersIn = (tickets: readonly RuleTicket[]) => tickets.reduce((sum, { players }) => sum + players.length, 0)
  const unevenness = (seats: readonly (readonly RuleTicket[])[]) =>
    seats.reduce((sum, tickets, team) => sum + playersIn(tickets) ** 2 / (most[team] ?? 1), 0)
  const least = unevenness(match.map(({ tickets }) => tickets)) - 1e-9
  const playing = running === undefined ? [] : [running.ticket]
  const members = match.flatMap(({ tickets }) => tickets).filter((ticket) => ticket !== running?.ticket)
  const seats: RuleTicket[][] = match.map((_, team) => (running?.team === team ? [running.ticket] : []))
  const isBetter = (): boolean => {
    if (seats.some((tickets, team) => playersIn(tickets) > (most[team] ?? 0)) || unevenness(seats) >= least)
      return false
    const other = match.map(({ kind }, team) => ({ kind, tickets: seats[team] ?? [] }))
    if (running === undefined && wrongSizes(definition, other, now).length > 0) return false
    return brokenRules(others, other, now, playing).length === 0
  }
  const from = (at: number): boolean => {
    const ticket = members[at]
    if (ticket === undefined) return isBetter()
    return seats.some((tickets) => {
      tickets.push(ticket)
      const found = from(at + 1)
      tickets.pop()
      return found
    })
  }
  return !from(0)
}
