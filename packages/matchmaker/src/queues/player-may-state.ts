// pure: what players may say of themselves
import type { Queue } from './queue.js'

/** Whether a queue believes a player's own word: of an attribute of that name, or of `roles`, `avoid` or `latencies`. */
export type PlayerMayState = (name: string) => boolean

/**
 * What the queue lists; without a list, what none of its rules compares. Latencies are believed in both cases where no rule
 * compares them: game clients send them to every queue.
 */
export function playerMayState({ playerMayState: listed, rules }: Queue): PlayerMayState {
  const compared = new Set<string>()
  for (const rule of rules) {
    if ('attribute' in rule && rule.attribute !== undefined) compared.add(rule.attribute)
    if (rule.kind === 'roles' || rule.kind === 'avoid') compared.add(rule.kind)
    if (rule.kind === 'latency') compared.add('latencies')
  }
  if (listed !== undefined) {
    const believed = new Set(compared.has('latencies') ? listed : [...listed, 'latencies'])
    return (name) => believed.has(name)
  }
  // A custom rule may look at every attribute, and at the roles.
  if (rules.some(({ kind }) => kind === 'custom')) return (name) => (name === 'latencies' || name === 'avoid') && !compared.has(name)
  return (name) => !compared.has(name)
}
