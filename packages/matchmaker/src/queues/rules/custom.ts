// pure: the custom rule
import type { CompiledRule, RuleContext } from './compiled-rule.js'
import type { CustomRule } from './definition.js'
import type { MatchProposal, ProposedPlayer } from './proposal.js'
import type { Teams } from './facts.js'
import { tableOf } from './levels.js'
import type { Rule } from './rule.js'
import { isSteady, timingOf } from './timing.js'

/**
 * Compiles a custom rule. A test that throws rejects the match only: a rule that fails for some players must not keep
 * all others from playing.
 */
export function compileCustom(rule: Rule & CustomRule, context: RuleContext): CompiledRule {
  const { index, queue, levels, teams, failed } = context
  const counts = tableOf(levels, 1, 0, rule)
  const timing = timingOf(rule, levels, isSteady(levels, counts))
  const proposalOf = (match: Teams, now: number): MatchProposal => ({
    queue,
    teams: match.map((members, team) => ({
      name: teams[team]?.name ?? '',
      tickets: members.map(({ ticket, of }) => ({
        id: ticket.id,
        waitedMs: Math.max(0, now - ticket.createdAt),
        players: of[index] as ProposedPlayer[],
      })),
    })),
  })
  const allows = (proposal: MatchProposal): boolean => {
    try {
      return rule.test(proposal)
    } catch (error) {
      failed(rule.name, error)
      return false
    }
  }
  return {
    rule,
    factOf: ({ players }): ProposedPlayer[] => players.map(({ id, attributes, roles }) => ({ id, attributes, roles })),
    timed: true,
    whole: (match, wait) => counts[timing.ofMatch(wait)] === 0 || allows(proposalOf(match, wait.now)),
  }
}
