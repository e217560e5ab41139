// pure: what the rules of a queue compare
import type { Queue, RuleDefinition } from '@muster/matchmaker'

/** The attributes that rules of these queues compare. */
export const comparedAttributes = (queues: readonly Queue[]): ReadonlySet<string> =>
  new Set(queues.flatMap(({ rules }) => rules.flatMap(attributesOf)))

function attributesOf(rule: RuleDefinition): string[] {
  const inner = rule.kind === 'not' ? [rule.rule] : rule.kind === 'any' || rule.kind === 'all' ? rule.rules : []
  return [
    ...inner.flatMap(attributesOf),
    ...('attribute' in rule && rule.attribute !== undefined ? [rule.attribute] : []),
    ...(rule.kind === 'accepts' ? [rule.own] : []),
  ]
}

/** The names of the teams of one match. */
export const teamNames = ({ teams }: Queue): string[] =>
  teams.flatMap(({ name, count = 1 }) =>
    count === 1 ? [name] : Array.from({ length: count }, (_, index) => `${name}-${index + 1}`),
  )
