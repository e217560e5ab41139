import { type Attributes, ShownName } from '@muster/hosting/internal'
import { z } from 'zod'
import {
  type Checked,
  type RuleBase,
  type RuleChecks,
  type RuleContext,
  type TeamMembers,
  base,
  timedCounts,
} from '../rule-parts/index.js'

/** A possible match in the form that a custom rule receives, without addresses. */
export interface MatchProposal {
  readonly queue: string
  readonly teams: readonly { readonly name: string; readonly tickets: readonly ProposedTicket[] }[]
}

export interface ProposedTicket {
  readonly id: string
  /** Milliseconds that the ticket has waited. */
  readonly waitedMs: number
  readonly players: readonly ProposedPlayer[]
}

export interface ProposedPlayer {
  readonly id: string
  readonly attributes: Attributes
  readonly roles: readonly string[]
}

/**
 * A condition as a function, for everything that the other rules cannot express. It must be pure: the same result for
 * the same match. A function that throws rejects the match. Not available in queues from JSON.
 */
export interface CustomRule extends RuleBase {
  readonly kind: 'custom'
  readonly name: string
  readonly test: (match: MatchProposal) => boolean
}

export const customSchema = z.strictObject({
  kind: z.literal('custom'),
  ...base,
  name: ShownName,
  test: z.custom<CustomRule['test']>((value) => typeof value === 'function', 'must be a function'),
})

/** Compiles a custom rule. A test that throws rejects only that match, so that others can play. */
export function compileCustom(rule: Checked<CustomRule>, context: RuleContext): RuleChecks {
  const { index, queue, levels, teams, failed } = context
  const counts = timedCounts(rule, levels)
  const proposalOf = (match: TeamMembers, now: number): MatchProposal => ({
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
    factOf: ({ players }): ProposedPlayer[] => players.map(({ id, attributes, roles }) => ({ id, attributes, roles })),
    timed: true,
    whole: (match, wait) => counts.ofMatch(wait) === 0 || allows(proposalOf(match, wait.now)),
  }
}
