// pure: what players may say of themselves
import type { Queue } from './queue.js'
import { innerRulesOf, ratingAttributesOf, type RuleDefinition } from './rules/index.js'

/**
 * Whether a queue believes what a player states: of an attribute with that name, or of `roles`, `avoid` or `latencies`.
 */
export type PlayerMayState = (name: string) => boolean

/**
 * Believes what the queue lists; without a list, what none of its rules compares. Latencies are believed in both cases
 * unless a rule compares them, because game clients send them to every queue.
 */
export function playerMayState({ playerMayState: listed, rules }: Queue): PlayerMayState {
  const compared = new Set(rules.flatMap(comparedBy))
  if (listed !== undefined) {
    const believed = new Set(compared.has('latencies') ? listed : [...listed, 'latencies'])
    return (name) => believed.has(name)
  }
  // A custom rule may look at every attribute, and at the roles.
  if (rules.some(isCustom)) return (name) => (name === 'latencies' || name === 'avoid') && !compared.has(name)
  return (name) => !compared.has(name)
}

/** Whether a rule of the queue reads latencies: a latency rule, or a custom rule, which may read anything. */
export const readsLatencies = ({ rules }: Queue): boolean =>
  rules.some((rule) => isCustom(rule) || comparedBy(rule).includes('latencies'))

/** What a rule, or a rule within it, compares: names of attributes, and `roles`, `avoid` or `latencies`. */
function comparedBy(rule: RuleDefinition): string[] {
  const inner = innerRulesOf(rule).flatMap(comparedBy)
  if ('attribute' in rule && rule.attribute !== undefined) inner.push(rule.attribute)
  if (rule.kind === 'accepts') inner.push(rule.own)
  if (rule.kind === 'balance') inner.push(...ratingAttributesOf(rule))
  if (rule.kind === 'roles' || rule.kind === 'avoid') inner.push(rule.kind)
  if (rule.kind === 'latency') inner.push('latencies')
  return inner
}

const isCustom = (rule: RuleDefinition): boolean => rule.kind === 'custom' || innerRulesOf(rule).some(isCustom)
