// pure: whether what a scene expects is so, and if not, what is so instead
import { durationWords } from './durations.js'
import { judgeApart, judgeMatched, judgeTeams, judgeTogether } from './judge-matches.js'
import { idsOf, listed, numbersOf, stateWords, teamsOf, type SeenMatch, type Sight } from './matches-seen.js'
import { WAITS_FOR_PLAYERS, WAITS_FOR_QUEUE, type Expectation } from './scene.js'
import { listOf, listOfAll, type Shortfall } from './shortfall.js'

/** Undefined if the expectation is met. */
export function judge(expected: Expectation, sight: Sight): Shortfall | undefined {
  switch (expected.kind) {
    case 'matched':
      return judgeMatched(expected.tickets, sight)
    case 'unmatched':
      return listOfAll(
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
      return listOfAll(
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
    // Of several rules that let the fewest through, one is named.
    const fewest = Math.min(...rules.map(({ lets }) => lets))
    const ties = rules.some(({ rule, lets }) => rule === why && lets === fewest && lets < others)
    return blocking === why || (blocking !== undefined && ties)
  })
  return isSo ? [] : [`${id} waits, but not for that: ${summary}`]
}

function wrongRefusal(id: string, why: string | undefined, sight: Sight): string[] {
  const refusal = sight.view.refusal(id)
  if (refusal === undefined) return [`it was taken: ${stateWords(id, sight)}`]
  if (why === undefined || refusal.toLowerCase().includes(why.toLowerCase())) return []
  return [`${id} was refused for another reason: ${refusal}`]
}

/** Most matches that are listed. */
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
