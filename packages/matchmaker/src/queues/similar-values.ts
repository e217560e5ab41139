// pure: values that look the same and are not, for `explain`
import type { Pool, Slot } from '@muster/kernel'
import type { Facts } from './rule-parts/index.js'
import type { Rule } from './rules/index.js'

/** Other tickets whose values are looked at (our choice). */
const MOST_SEEN = 256

/**
 * Says that another ticket has a value that looks the same and is of another type, or another Unicode form of the same
 * word; undefined if none has. Only values that the ticket has itself are named.
 */
export function similarValue(rule: Rule, pool: Pool<Facts>, slot: Slot): string | undefined {
  if (rule.kind !== 'equal' && rule.kind !== 'overlap') return undefined
  const { attribute } = rule
  const own = valuesOf(pool.entryOf(slot).facts, attribute)
  for (const other of pool.some(MOST_SEEN)) {
    if (other === slot) continue
    const others = valuesOf(pool.entryOf(other).facts, attribute)
    for (const value of own) {
      if (others.includes(value)) continue
      const near = others.find((one) => formOf(one) === formOf(value))
      if (near === undefined) continue
      const [theirs, ours] = [near, value].map((one) => TYPES[typeof one] ?? 'another type')
      const how = theirs === ours ? 'in another Unicode form' : `as ${theirs}, not as ${ours}`
      return `Another ticket has ${attribute} ${JSON.stringify(value)} ${how}`
    }
  }
  return undefined
}

const TYPES: Readonly<Record<string, string>> = { string: 'a text', number: 'a number', boolean: 'a boolean' }

const formOf = (value: unknown): string => String(value).normalize('NFKC')

const valuesOf = ({ ticket }: Facts, attribute: string): unknown[] =>
  ticket.players.flatMap(({ attributes }): unknown[] => {
    const value: unknown = Object.hasOwn(attributes, attribute) ? attributes[attribute] : undefined
    return value === undefined ? [] : Array.isArray(value) ? value : [value]
  })
