// pure: whether tickets are matched, with whom, and in which teams
import { idsOf, listed, stateWords, teamsOf, type Sight } from './matches-seen.js'
import type { ExpectedTeam } from './scene.js'
import { listOf, listOfAll, type Shortfall } from './shortfall.js'

const isWaiting = (id: string, { view }: Sight) => view.ticket(id)?.status === 'SEARCHING'

/** Whether all of them are in matches. */
export function judgeMatched(tickets: readonly string[], sight: Sight): Shortfall | undefined {
  const missing = tickets.filter((id) => sight.matchOf(id) === undefined)
  const shortfall = listOfAll(missing, (id) => stateWords(id, sight))
  return shortfall && { ...shortfall, waits: missing.find((id) => isWaiting(id, sight)) }
}

/**
 * Whether they are in one match.
 * @param alone whether nobody else may be in it.
 */
export function judgeTogether(tickets: readonly string[], alone: boolean, sight: Sight): Shortfall | undefined {
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
      : listOfAll(tickets, (id) => stateWords(id, sight))
  const playing = tickets.filter((id) => isWaiting(id, sight) || sight.matchOf(id) !== undefined)
  return shortfall && { ...shortfall, apart: playing, waits: waiting[0] }
}

/** Whether no two of them are in one match. */
export function judgeApart(tickets: readonly string[], sight: Sight): Shortfall | undefined {
  const apart = new Set(tickets)
  const shared = sight.matches
    .map((match) => idsOf(match).filter((id) => apart.has(id)))
    .filter((ids) => ids.length > 1)
  return listOf(shared.map((ids) => `${listed(ids)} are in one match`))
}

const sameTickets = (some: readonly string[], others: readonly string[]) =>
  some.length === others.length && some.every((id) => others.includes(id))

/** Whether they are the teams of one match. */
export function judgeTeams(teams: readonly ExpectedTeam[], sight: Sight): Shortfall | undefined {
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
