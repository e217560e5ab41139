import { z } from 'zod'
import {
  amongWords,
  compileAmong,
  type Among,
  type Checked,
  type RuleBase,
  type Facts,
  type RuleChecks,
  type RuleContext,
  among,
  base,
} from '../rule-parts/index.js'

/**
 * No two players are in one match if one of them has the other on their avoid list. With scope `team`, such players may
 * be opponents.
 */
export interface AvoidRule extends RuleBase, Among {
  readonly kind: 'avoid'
}

export const avoidSchema = z.strictObject({ kind: z.literal('avoid'), ...base, ...among })

export function compileAvoid(rule: Checked<AvoidRule>, context: RuleContext): RuleChecks {
  const { index } = context
  /** True if a player of `other` is on an avoid list of `one`. Most lists are empty. */
  const avoids = (one: Facts, other: Facts) => {
    const avoided = one.of[index] as ReadonlySet<string> | undefined
    return avoided !== undefined && other.ticket.players.some(({ id }) => avoided.has(id))
  }
  return {
    ...compileAmong(rule, rule, context, (one, other) => !avoids(one, other) && !avoids(other, one)),
    factOf: ({ players }) => {
      const avoided = new Set(players.flatMap(({ avoid }) => avoid))
      return avoided.size === 0 ? undefined : avoided
    },
  }
}

export const avoidWords = (rule: AvoidRule): string =>
  `no player meets anyone on their avoid list, nor anyone whose list they are on${amongWords(rule)}`
