import { z } from 'zod'
import {
  compilePairwise,
  type Checked,
  type RuleBase,
  type Facts,
  type RuleChecks,
  type RuleContext,
  base,
} from '../rule-parts/index.js'

/** No player is in a match with a player on their avoid list, or whose avoid list they are on. */
export interface AvoidRule extends RuleBase {
  readonly kind: 'avoid'
}

export const avoidSchema = z.strictObject({ kind: z.literal('avoid'), ...base })

export function compileAvoid(rule: Checked<AvoidRule>, context: RuleContext): RuleChecks {
  const { index } = context
  /** Whether a player of one ticket is on an avoid list of the other. Most lists are empty. */
  const avoids = (one: Facts, other: Facts) => {
    const avoided = one.of[index] as ReadonlySet<string> | undefined
    return avoided !== undefined && other.ticket.players.some(({ id }) => avoided.has(id))
  }
  return {
    ...compilePairwise(rule, context, (one, other) => !avoids(one, other) && !avoids(other, one)),
    factOf: ({ players }) => {
      const avoided = new Set(players.flatMap(({ avoid }) => avoid))
      return avoided.size === 0 ? undefined : avoided
    },
  }
}
