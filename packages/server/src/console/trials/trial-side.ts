// pure: how good a replay was for one queue
import type { TrialSide } from '@muster/console/wire'
import { greatCircleKm } from '@muster/core'
import type { Replay } from '@muster/matchmaker'
import type { TicketFacts } from './recorded-text.js'

/** Players of a match whose distances are measured: more would change the mean little, and take long. */
const MEASURED = 10

export function trialSide(
  queue: string,
  { tickets, matches }: Pick<Replay, 'tickets' | 'matches'>,
  facts: ReadonlyMap<string, TicketFacts>,
): TrialSide {
  const here = tickets.filter(({ id }) => facts.get(id)?.queues.includes(queue) === true)
  const matched = here.filter((ticket) => ticket.outcome === 'assigned' && ticket.queue === queue)
  const waits = matched
    .map(({ createdAt, matchedAt = createdAt }) => matchedAt - createdAt)
    .toSorted((one, other) => one - other)
  const at = (share: number) => waits[Math.max(0, Math.ceil(waits.length * share) - 1)] ?? null
  const own = matches.filter((match) => match.queue === queue)
  const players = own.map((match) => match.tickets.flatMap(({ id }) => facts.get(id)?.players ?? []))
  return {
    matches: own.length,
    matchedShare: here.length === 0 ? null : matched.length / here.length,
    waitP50: at(0.5),
    waitP95: at(0.95),
    meanKm: meanOf(players.flatMap(distances)),
    spreads: spreadsOf(players),
  }
}

type Players = TicketFacts['players']

function distances(players: Players): number[] {
  const places = players.flatMap(({ coordinates }) => coordinates ?? []).slice(0, MEASURED)
  return places.flatMap((place, index) => places.slice(index + 1).map((other) => greatCircleKm(place, other)))
}

const meanOf = (values: readonly number[]): number | null =>
  values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length

function spreadsOf(matches: readonly Players[]): TrialSide['spreads'] {
  const spreads = new Map<string, number[]>()
  for (const players of matches) {
    for (const [attribute, values] of numbersOf(players)) {
      const spread = Math.max(...values) - Math.min(...values)
      const known = spreads.get(attribute)
      if (known === undefined) spreads.set(attribute, [spread])
      else known.push(spread)
    }
  }
  return Array.from(spreads, ([attribute, all]) => ({ attribute, mean: meanOf(all) ?? 0 }))
}

function numbersOf(players: Players): Map<string, number[]> {
  const numbers = new Map<string, number[]>()
  for (const { attributes = {} } of players) {
    for (const [attribute, value] of Object.entries(attributes)) {
      if (typeof value !== 'number') continue
      const known = numbers.get(attribute)
      if (known === undefined) numbers.set(attribute, [value])
      else known.push(value)
    }
  }
  return numbers
}
