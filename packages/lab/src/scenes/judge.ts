// pure: why an expectation is not met
import type { Player, Ticket } from '@muster/matchmaker'
import { groupBy } from '@muster/core/internal'
import type { SceneView } from './play.js'
import {
  durationWords,
  type Expectation,
  type ExpectedTeam,
  type SceneTicket,
  WAITS_FOR_PLAYERS,
  WAITS_FOR_QUEUE,
} from './scene.js'

/** Why an expectation is not met. */
export interface Shortfall {
  /** The actual state, in sentences. */
  readonly words: string
  /** Tickets that are not in one match although they should be. The caller explains which rule separates them. */
  readonly apart?: readonly string[] | undefined
  /** A ticket that waits although it should not. The caller explains why. */
  readonly waits?: string | undefined
}

/** Maximum number of sentences about one expectation. */
const MOST_SENTENCES = 5

/** Joins sentences, one about each subject, into one shortfall. Undefined if there are no subjects. */
function listOf(subjects: readonly string[], say = (sentence: string) => sentence): Shortfall | undefined {
  if (subjects.length === 0) return undefined
  const more = subjects.length - MOST_SENTENCES
  const words = subjects.slice(0, MOST_SENTENCES).map(say).join('; ')
  return { words: words + (more > 0 ? `; and ${more} more like this` : '') }
}

/** The state of a scene (a test of queues, played by the matchmaker) at a moment, and the matches derived from it. */
export interface Sight {
  readonly view: SceneView
  /** The tickets of the scene, by id. */
  readonly tickets: ReadonlyMap<string, SceneTicket>
  /** The matches at this moment, in the order of their first tickets. */
  readonly matches: readonly SeenMatch[]
  matchOf(id: string): SeenMatch | undefined
}

/** The tickets of a match. */
type SeenMatch = readonly Ticket[]

export function sightOf(view: SceneView, tickets: ReadonlyMap<string, SceneTicket>): Sight {
  const inMatches = [...tickets.keys()].flatMap((id) => {
    const ticket = view.ticket(id)
    return ticket?.matchId === undefined || ticket.status === 'CANCELLED' ? [] : ticket
  })
  const matches = [...groupBy(inMatches, ({ matchId }) => matchId).values()]
  const matchOf = new Map(matches.flatMap((match) => match.map(({ id }) => [id, match] as const)))
  return { view, tickets, matches, matchOf: (id) => matchOf.get(id) }
}

const idsOf = (match: SeenMatch): string[] => match.map(({ id }) => id)

/** Returns the ids of the tickets in each team of a match, by the team's name. */
function teamsOf(match: SeenMatch): ReadonlyMap<string, readonly string[]> {
  const teams = [...groupBy(match, ({ team = '' }) => team)].toSorted(([one], [other]) => (one < other ? -1 : 1))
  return new Map(teams.map(([name, those]) => [name, idsOf(those)]))
}

/** Returns the values of a number attribute among the players of these tickets. */
function numbersOf(ids: readonly string[], attribute: string, { tickets }: Pick<Sight, 'tickets'>): number[] {
  const valueOf = ({ attributes = {} }: Player) => attributes[attribute]
  return ids
    .flatMap((id) => tickets.get(id)?.players ?? [])
    .map(valueOf)
    .filter((value) => typeof value === 'number')
}

/** Maximum number of names in a sentence. */
const MOST_NAMES = 12

/** Joins names like `a, b and c`. */
export function listed(names: readonly string[]): string {
  if (names.length > MOST_NAMES) return `${names.slice(0, MOST_NAMES).join(', ')} and ${names.length - MOST_NAMES} more`
  return names.length < 2 ? (names[0] ?? 'none') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`
}

/** Describes the state of a ticket, e.g. `a is matched with b since 3s`. */
function stateWords(id: string, { view, tickets, matchOf }: Sight): string {
  const ticket = view.ticket(id)
  if (ticket === undefined) return `${id} was refused (${view.refusal(id) ?? 'it has not arrived'})`
  const since = (epochMs = ticket.createdAt) => durationWords(Math.max(0, epochMs - startOf(ticket, tickets)))
  switch (ticket.status) {
    case 'SEARCHING':
      return `${id} waits`
    case 'CANCELLED':
      return `${id} has ended at ${since(ticket.cancelledAt)}: ${ticket.cancelReason}`
    default: {
      const match = matchOf(id)
      const others = match === undefined ? [] : idsOf(match).filter((other) => other !== id)
      const how = others.length === 0 ? 'alone' : `with ${listed(others)}`
      return `${id} is matched ${how} since ${since(ticket.matchedAt)}`
    }
  }
}

/** Returns the epoch milliseconds of the scene's start. */
const startOf = ({ id, createdAt }: Ticket, tickets: Sight['tickets']) => createdAt - (tickets.get(id)?.at ?? 0)

const isWaiting = (id: string, { view }: Sight) => view.ticket(id)?.status === 'SEARCHING'

/** Checks that all tickets are in matches. Returns the shortfall, or undefined. */
function judgeMatched(tickets: readonly string[], sight: Sight): Shortfall | undefined {
  const missing = tickets.filter((id) => sight.matchOf(id) === undefined)
  const shortfall = listOf(missing, (id) => stateWords(id, sight))
  return shortfall && { ...shortfall, waits: missing.find((id) => isWaiting(id, sight)) }
}

/**
 * Checks that the tickets are in one match. Returns the shortfall, or undefined.
 * @param alone true if no other ticket may be in the match.
 */
function judgeTogether(tickets: readonly string[], alone: boolean, sight: Sight): Shortfall | undefined {
  const matches = new Set(tickets.map((id) => sight.matchOf(id)))
  const [match] = matches
  if (matches.size === 1 && match !== undefined) {
    const expected = new Set(tickets)
    const others = idsOf(match).filter((id) => !expected.has(id))
    if (!alone || others.length === 0) return undefined
    const [are, them] = tickets.length === 1 ? ['is', 'it'] : ['are', 'them']
    return { words: `${listed(tickets)} ${are} matched, and ${listed(others)} with ${them}` }
  }
  const waiting = tickets.filter((id) => isWaiting(id, sight))
  const shortfall =
    waiting.length === tickets.length
      ? { words: `${listed(tickets)} ${tickets.length === 1 ? 'waits' : 'wait'}` }
      : listOf(tickets, (id) => stateWords(id, sight))
  const playing = tickets.filter((id) => isWaiting(id, sight) || sight.matchOf(id) !== undefined)
  return shortfall && { ...shortfall, apart: playing, waits: waiting[0] }
}

/** Checks that no two of the tickets are in one match. Returns the shortfall, or undefined. */
function judgeApart(tickets: readonly string[], sight: Sight): Shortfall | undefined {
  const apart = new Set(tickets)
  const shared = sight.matches
    .map((match) => idsOf(match).filter((id) => apart.has(id)))
    .filter((ids) => ids.length > 1)
  return listOf(shared.map((ids) => `${listed(ids)} are in one match`))
}

const sameTickets = (some: readonly string[], others: readonly string[]) =>
  some.length === others.length && some.every((id) => others.includes(id))

/** Checks that the teams are those of one match. Returns the shortfall, or undefined. */
function judgeTeams(teams: readonly ExpectedTeam[], sight: Sight): Shortfall | undefined {
  const tickets = teams.flatMap((team) => team.tickets)
  const shortfall = judgeTogether(tickets, true, sight)
  const match = sight.matchOf(tickets[0] ?? '')
  if (shortfall !== undefined || match === undefined) return shortfall
  const made = teamsOf(match)
  const isMade = ({ name, tickets: wanted }: ExpectedTeam) =>
    [...made].some(([team, there]) => (name === undefined || name === team) && sameTickets(wanted, there))
  if (teams.every(isMade)) return undefined
  return { words: `the teams are ${[...made].map(([name, ids]) => `${name}: ${listed(ids)}`).join('; ')}` }
}

/** Checks an expectation. Returns undefined if it is met. */
export function judge(expected: Expectation, sight: Sight): Shortfall | undefined {
  switch (expected.kind) {
    case 'matched':
      return judgeMatched(expected.tickets, sight)
    case 'unmatched':
      return listOf(
        expected.tickets.filter((id) => sight.matchOf(id) !== undefined),
        (id) => stateWords(id, sight),
      )
    case 'exactly':
    case 'together':
      return judgeTogether(expected.tickets, expected.kind === 'exactly', sight)
    case 'apart':
      return judgeApart(expected.tickets, sight)
    case 'waiting':
      return listOf(expected.tickets.flatMap((id) => wrongWait(id, expected.why, sight)))
    case 'refused':
      return listOf(expected.tickets.flatMap((id) => wrongRefusal(id, expected.why, sight)))
    case 'ended':
      return listOf(
        expected.tickets.filter((id) => sight.view.ticket(id)?.cancelReason !== expected.reason),
        (id) => stateWords(id, sight),
      )
    case 'teams':
      return judgeTeams(expected.teams, sight)
    case 'matches':
      return judgeCount(expected.min, expected.max, sight)
    case 'within':
      return judgeWithin(expected.tickets, expected.ms, sight)
    case 'balance':
      return listOf(sight.matches.flatMap((match) => unbalanced(match, expected.attribute, expected.most, sight)))
    case 'spread':
      return listOf(sight.matches.flatMap((match) => spreadOut(match, expected.attribute, expected.most, sight)))
  }
}

function wrongWait(id: string, why: string | undefined, sight: Sight): string[] {
  if (sight.view.ticket(id)?.status !== 'SEARCHING') return [stateWords(id, sight)]
  if (why === undefined) return []
  const { queues, summary } = sight.view.explain(id)
  const isSo = queues.some(({ paused, blocking, lacks, rules, others }) => {
    if (why === WAITS_FOR_QUEUE) return paused === true
    if (why === WAITS_FOR_PLAYERS) return blocking === undefined && lacks > 0
    // If several rules accept the same smallest number of tickets, the matchmaker names one of them. Any of them is
    // right.
    const fewest = Math.min(...rules.map(({ lets }) => lets))
    const ties = rules.some(({ rule, lets }) => rule === why && lets === fewest && lets < others)
    return blocking === why || (blocking !== undefined && ties)
  })
  return isSo ? [] : [`${id} waits, but for another reason: ${summary}`]
}

function wrongRefusal(id: string, why: string | undefined, sight: Sight): string[] {
  const refusal = sight.view.refusal(id)
  if (refusal === undefined) return [`it was not refused: ${stateWords(id, sight)}`]
  if (why === undefined || refusal.toLowerCase().includes(why.toLowerCase())) return []
  return [`${id} was refused for another reason: ${refusal}`]
}

/** Maximum number of matches that a sentence lists. */
const MOST_MATCHES = 6

function judgeCount(min: number, max: number, { matches }: Sight): Shortfall | undefined {
  if (matches.length >= min && matches.length <= max) return undefined
  const shown = matches.slice(0, MOST_MATCHES).map((match) => `[${idsOf(match).join(', ')}]`)
  const more = matches.length > MOST_MATCHES ? ' …' : ''
  const words = matches.length === 1 ? 'there is 1' : `there are ${matches.length}`
  return { words: matches.length === 0 ? 'there is none' : `${words}: ${shown.join(', ')}${more}` }
}

function judgeWithin(tickets: readonly string[], ms: number, sight: Sight): Shortfall | undefined {
  const late = tickets.flatMap((id) => {
    const { matchedAt, createdAt = 0 } = sight.view.ticket(id) ?? {}
    if (sight.matchOf(id) === undefined || matchedAt === undefined) return [stateWords(id, sight)]
    const wait = matchedAt - createdAt
    return wait > ms ? [`${id} waited ${durationWords(wait)}`] : []
  })
  return listOf(late)
}

function unbalanced(match: SeenMatch, attribute: string, most: number, sight: Sight): string[] {
  const teams = [...teamsOf(match).values()].flatMap((team) => {
    const values = numbersOf(team, attribute, sight)
    return values.length === 0 ? [] : [{ team, average: values.reduce((sum, one) => sum + one, 0) / values.length }]
  })
  const apart = apartIn(teams.map(({ average }) => average))
  const words = teams.map(({ team, average }) => `${listed(team)} (${rounded(average)})`)
  return apart <= most ? [] : [`the teams are ${words.join(' and ')}: ${rounded(apart)} apart`]
}

function spreadOut(match: SeenMatch, attribute: string, most: number, sight: Sight): string[] {
  const apart = apartIn(numbersOf(idsOf(match), attribute, sight))
  return apart <= most ? [] : [`${listed(idsOf(match))} are in one match, ${rounded(apart)} apart`]
}

const apartIn = (values: readonly number[]) => (values.length === 0 ? 0 : Math.max(...values) - Math.min(...values))

const rounded = (value: number) => String(Math.round(value * 10) / 10)
