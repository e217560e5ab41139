// pure: tickets that nobody could ever be matched with
import type { CompiledRule } from './compiled-rule.js'
import type { Facts, Refuse } from './facts.js'
import type { Levels } from './levels.js'
import type { NamedTeam } from './team-shapes.js'

/**
 * Refuses tickets that could never be matched: a party that fits into no team, or one that a rule about teams rejects
 * in every team even after the longest wait and with no other players. The other rules refuse such tickets themselves.
 */
export function refuseHopeless(rules: readonly CompiledRule[], teams: readonly NamedTeam[], { last }: Levels) {
  const aboutTeams = rules.filter(
    ({ rule, part }) => part !== undefined && (rule.kind === 'roles' || rule.kind === 'compare'),
  )
  const largest = Math.max(...teams.map(({ max }) => max))
  /** Index of the first team of each kind; teams of one kind are alike. */
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
