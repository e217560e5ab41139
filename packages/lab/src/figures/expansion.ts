// pure: which limits were in force when players were matched
import { describeQueue, type LimitCurve, type Queue, type WaitOf } from '@muster/matchmaker'
import type { Crowd } from '../crowd/crowd.js'
import type { MatchOutcome, RunOutcome } from '../run/outcome.js'
import { rounded } from '../statistics/spread.js'
import type { Expansion } from './figures.js'

/** A ticket in a match: how long it had waited, and how many players it has. */
interface Waited {
  readonly ms: number
  readonly players: number
}

export function expansionsOf(
  queue: Queue,
  matches: readonly MatchOutcome[],
  crowd: Crowd,
  outcome: RunOutcome,
): Expansion[] {
  // Where limits follow how many players come, waits alone do not tell which were in force.
  const curves = describeQueue(queue).curves.filter(({ points, adapts }) => points.length > 1 && adapts !== true)
  if (curves.length === 0) return []
  const waited = matches.map((match) =>
    match.tickets.flatMap((index): Waited[] => {
      const ticket = outcome.tickets[index]
      if (ticket?.matchedAt === undefined) return []
      return [{ ms: ticket.matchedAt - ticket.createdAt, players: crowd.parties[ticket.party]?.players.length ?? 0 }]
    }),
  )
  return curves.map((curve) => expansionOf(curve, whoseWait(curve, queue), waited))
}

function expansionOf(
  { rule, unit, points }: LimitCurve,
  whose: Whose,
  matches: readonly (readonly Waited[])[],
): Expansion {
  const players = new Float64Array(points.length)
  const count = (ms: number, many: number) => {
    const step = points.findLastIndex(({ after }) => after <= ms)
    players[step] = (players[step] as number) + many
  }
  for (const tickets of matches) {
    if (tickets.length === 0) continue
    const ofMatch = whose === 'own' ? undefined : waitOfMatch(tickets, whose)
    for (const { ms, players: many } of tickets) count(ofMatch ?? ms, many)
  }
  const all = players.reduce((sum, many) => sum + many, 0) || 1
  const steps = points.map(({ after, limit }, step) => ({
    after,
    limit,
    share: rounded((players[step] as number) / all, 6),
  }))
  return { rule, unit, steps }
}

/** Whose wait relaxes a limit: that of each ticket, or one of the match. */
type Whose = 'own' | Exclude<WaitOf, 'each'>

/** Kinds of rules that hold between tickets, or for one: each ticket has a limit of its own. */
const OF_TICKETS: ReadonlySet<string> = new Set(['distance', 'difference', 'require'])

function whoseWait({ rule: name }: LimitCurve, { rules }: Queue): Whose {
  const named = rules
    .filter((rule) => name === rule.name || name === `${rule.name} difference` || name.startsWith(`${rule.name}: `))
    .toSorted((a, b) => b.name.length - a.name.length)[0]
  // No rule: the smallest size of a team, which falls as the oldest ticket waits.
  if (named === undefined) return 'oldest'
  const { by = 'each', kind } = named
  if (by !== 'each') return by
  return OF_TICKETS.has(kind) ? 'own' : 'youngest'
}

function waitOfMatch(tickets: readonly Waited[], whose: Exclude<Whose, 'own'>): number {
  const waits = tickets.map(({ ms }) => ms)
  if (whose === 'youngest') return Math.min(...waits)
  if (whose === 'oldest') return Math.max(...waits)
  return waits.reduce((sum, ms) => sum + ms, 0) / waits.length
}
