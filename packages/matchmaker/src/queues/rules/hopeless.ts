// pure: tickets that nobody could ever be matched with
import type { CompiledRule } from './compiled-rule.js'
import type { Facts, Refuse } from './facts.js'
import type { Levels } from './levels.js'
import type { NamedTeam } from './team-shapes.js'

/**
 * Refuses a party that fits into no team, or that a rule about teams would let into none, with nobody in its way and
 * after the longest wait. What the other rules would never let in, they refuse themselves.
 */
export function refuseHopeless(rules: readonly CompiledRule[], teams: readonly NamedTeam[], { last }: Levels) {
  const aboutTeams = rules.filter(
    ({ rule, part }) => part !== undefined && (rule.kind === 'roles' || rule.kind === 'compare'),
  )
  const largest = Math.max(...teams.map(({ max }) => max))
  /** The first team of each kind: the others are like it. */
  const firsts = teams.flatMap(({ kind }, team) => (teams.findIndex((one) => one.kind === kind) === team ? [team] : []))

  const lets = ({ part }: CompiledRule, facts: Facts, team: number): boolean => {
    const size = facts.ticket.players.length
    const room = teams.map(({ max }, index) => (index === team ? max - size : max))
    const alone = teams.map((_, index) => (index === team ? [facts] : []))
    return part?.(alone, room, { youngest: last, oldest: last, average: last, now: facts.ticket.createdAt }) ?? true
  }

  return (facts: Facts, refuse: Refuse): void => {
    const size = facts.ticket.players.length
    if (size > largest) throw refuse('players', `a party of ${size} is too big: a team takes at most ${largest}`)
    if (aboutTeams.length === 0) return
    const fitting = firsts.filter((team) => (teams[team]?.max ?? 0) >= size)
    const never = aboutTeams.find((rule) => !fitting.some((team) => lets(rule, facts, team)))
    if (never !== undefined)
      throw refuse('players', `would never be matched, by rule ${JSON.stringify(never.rule.name)}`)
  }
}
