import type { Player, Ticket } from '@muster/matchmaker'
import { groupBy } from './group-by.js'

/**
 * Checks the matches without knowing how they were made. Returns one line for each of these faults:
 * - a team of a wrong size, or without a tank or a healer,
 * - a match of too many players, or of players who avoid each other,
 * - a player in two matches,
 * - a promised beacon that is farther from a player than promised.
 */
export function verify(
  assigned: readonly Ticket[],
  playerOf: ReadonlyMap<string, Player>,
  left: ReadonlySet<string>,
): string[] {
  const wrong: string[] = []
  const seen = new Set<string>()
  for (const { players } of assigned) {
    for (const { id } of players) {
      if (seen.has(id)) wrong.push(`${id} is in two matches`)
      seen.add(id)
    }
  }
  for (const [matchId, tickets] of groupBy(assigned, (ticket) => ticket.matchId ?? '')) {
    const of = (some: readonly Ticket[]) =>
      some.flatMap(({ players }) => players.flatMap(({ id }) => playerOf.get(id) ?? []))
    const teams = groupBy(tickets, ({ team = '' }) => team)
    const say = (what: string) => wrong.push(`match ${matchId}: ${what}`)
    const all = of(tickets)
    switch (tickets[0]?.queue) {
      case 'ranked':
        if (teams.size !== 2) say(`${teams.size} teams`)
        for (const [name, some] of teams) {
          const team = of(some)
          if (team.length !== 5) say(`${name} has ${team.length} players`)
          if (!hasTankAndHealer(team.map(({ roles = [] }) => roles))) say(`${name} lacks a tank or a healer`)
        }
        if (all.some(({ avoid = [] }) => all.some(({ id }) => avoid.includes(id)))) say('players who avoid each other')
        break
      case 'duel':
        if (all.length !== 2) say(`${all.length} duellists`)
        for (const what of brokenPromises(tickets, all)) say(what)
        break
      case 'social': {
        const present = all.filter(({ id }) => !left.has(id)).length
        if (present > 12) say(`${present} players`)
      }
    }
  }
  return wrong
}

function brokenPromises(tickets: readonly Ticket[], players: readonly Player[]): string[] {
  const { beacon = '', latencyMs = Infinity } = tickets[0]?.assignment?.promised ?? {}
  return players.flatMap(({ id, latencies = {} }) => {
    const ms = latencies[beacon] ?? 0
    return ms <= latencyMs ? [] : [`${id} has ${ms} ms to ${beacon}, and ${latencyMs} were promised`]
  })
}

/** Returns true if two different players of a team can be its tank and its healer. */
const hasTankAndHealer = (team: readonly (readonly string[])[]) =>
  team.some(
    (one, first) => one.includes('tank') && team.some((other, second) => first !== second && other.includes('healer')),
  )
