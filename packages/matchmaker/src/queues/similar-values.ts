// pure: values that look the same but differ for rules, for `explain` and `muster check`
import type { Pool, Slot } from '@muster/kernel'
import { type Facts, relaxingOf, type RuleTicket, type Similar, similarTo } from './rule-parts/index.js'
import { innerRulesOf, type RuleDefinition } from './rules/index.js'

/** Maximum number of other tickets, and of their values, that are compared (our choices). */
const MOST_SEEN = 256
const MOST_VALUES = 4096

type ReadValues = (ticket: RuleTicket) => readonly unknown[]

/** Values of a ticket that a rule compares. */
interface ComparedValues {
  /** What the values are of: an attribute, a role or an id. */
  readonly what: string
  readonly own: ReadValues
  /** Values of other tickets. `constants`: values in the rule's definition. */
  readonly others?: ReadValues
  readonly constants?: ReadValues
  /** True if the rule requires equal values. False if it requires different ones. */
  readonly wantsSame: boolean
}

/**
 * Returns the comparisons of a rule and its inner rules. A rule about numbers accepts tickets with strings only if it
 * is nested.
 */
function comparisonsOf(rule: RuleDefinition): readonly ComparedValues[] {
  const inner = innerRulesOf(rule).flatMap(comparisonsOf)
  switch (rule.kind) {
    case 'not':
      return inner.map((one) => ({ ...one, wantsSame: !one.wantsSame }))
    case 'equal':
    case 'overlap':
    case 'different': {
      const read = attribute(rule.attribute)
      return [{ what: rule.attribute, own: read, others: read, wantsSame: rule.kind !== 'different' }]
    }
    case 'accepts': {
      const wantsSame = SAME.has(rule.operator)
      if (!wantsSame && !OTHER.has(rule.operator)) return [...numbers(rule.attribute), ...numbers(rule.own)]
      const [is, wants] = [attribute(rule.attribute), attribute(rule.own)]
      return [
        { what: rule.attribute, own: wants, others: is, wantsSame },
        { what: rule.own, own: is, others: wants, wantsSame },
      ]
    }
    case 'avoid':
      // Only the ticket's own list is compared, so that no player learns who avoids them.
      return [{ what: 'id', own: avoided, others: ({ players }) => players.map(({ id }) => id), wantsSame: false }]
    case 'roles': {
      const names = Object.keys(rule.roles)
      const own: ReadValues = ({ players }) => players.flatMap(({ roles }) => roles)
      return [{ what: 'role', own, constants: () => names, wantsSame: true }]
    }
    case 'require': {
      const wantsSame = SAME.has(rule.operator)
      if (!wantsSame && !OTHER.has(rule.operator)) return numbers(rule.attribute)
      const named = constantsOf(rule)
      return [{ what: rule.attribute, own: attribute(rule.attribute), constants: () => named, wantsSame }]
    }
    case 'difference':
    case 'compare':
      return numbers(rule.attribute)
    default:
      return inner
  }
}

const SAME: ReadonlySet<string> = new Set(['=', 'in', 'contains'])
const OTHER: ReadonlySet<string> = new Set(['!=', 'not in', 'excludes'])

const attribute =
  (name: string): ReadValues =>
  ({ players }) =>
    players.flatMap(({ attributes }): unknown[] => {
      const value: unknown = Object.hasOwn(attributes, name) ? attributes[name] : undefined
      return value === undefined ? [] : Array.isArray(value) ? value : [value]
    })

const avoided: ReadValues = ({ players }) => players.flatMap(({ avoid }) => avoid)

/** Returns the comparison that finds strings which look like numbers: a rule about numbers does not accept them. */
function numbers(name: string | undefined): readonly ComparedValues[] {
  if (name === undefined) return []
  const own = attribute(name)
  const asNumbers: ReadValues = (ticket) =>
    own(ticket).flatMap((value) => (typeof value === 'string' && String(Number(value)) === value ? Number(value) : []))
  return [{ what: name, own, constants: asNumbers, wantsSame: true }]
}

/** Returns the values that a rule of kind `require` names and that cannot relax. */
function constantsOf({ value }: Extract<RuleDefinition, { kind: 'require' }>): readonly unknown[] {
  if (Array.isArray(value) && relaxingOf(value) === undefined) return value
  return typeof value === 'object' ? [] : [value]
}

/** Returns a sentence if a rule distinguishes two values that look the same, otherwise undefined. */
export type SayIsSimilar = (pool: Pool<Facts>, slot: Slot) => string | undefined

/**
 * Creates the function that returns a sentence if a ticket's value only looks like a value of the rule or of another
 * ticket. Such values differ in type or Unicode form. The sentence contains no value of another ticket.
 * @param rule has the name that the sentence uses
 * @param wantsSame true to check values that the rule requires to be equal; false to check those that it requires to
 *   differ
 */
export function similarValue(rule: RuleDefinition & { readonly name: string }, wantsSame: boolean): SayIsSimilar {
  const comparisons = comparisonsOf(rule).filter((one) => one.wantsSame === wantsSame)
  const name = JSON.stringify(rule.name)
  return (pool, slot) => {
    const { ticket } = pool.entryOf(slot).facts
    for (const { what, own, others, constants } of comparisons) {
      const values = own(ticket)
      if (values.length === 0) continue
      const named = constants && similarTo(values, constants(ticket))
      if (named !== undefined) return `Rule ${name} compares ${what} with ${inWords(named)}`
      const near = others && similarOf(values, others, pool, slot)
      if (near === undefined) continue
      const has = `Another ticket has ${what} ${inWords(near)}`
      return wantsSame ? has : `${has}, which rule ${name} treats as a different value`
    }
    return undefined
  }
}

const inWords = ({ value, how }: Similar): string => `${JSON.stringify(value)} ${how}`

function similarOf(values: readonly unknown[], others: ReadValues, pool: Pool<Facts>, slot: Slot): Similar | undefined {
  let seen = 0
  for (const other of pool.some(MOST_SEEN)) {
    if (other === slot) continue
    const theirs = others(pool.entryOf(other).facts.ticket)
    const near = similarTo(values, theirs)
    if (near !== undefined) return near
    seen += theirs.length
    if (seen > MOST_VALUES) return undefined
  }
  return undefined
}

/** Returns the values in the rules of a queue that look like a value of an earlier rule without being equal to it. */
export function similarConstants(
  rules: readonly RuleDefinition[],
): readonly { readonly rule: number; readonly message: string }[] {
  const named = new Map<string, unknown[]>()
  return rules.flatMap((rule, index) =>
    namedBy(rule).flatMap(([what, values]) =>
      values.flatMap((value) => {
        const before = named.get(what) ?? []
        named.set(what, [...before, value])
        const near = similarTo([value], before)
        if (near === undefined) return []
        return { rule: index, message: `has ${what} ${JSON.stringify(value)}, which is also named ${near.how}` }
      }),
    ),
  )
}

/** Returns the values in the definition of a rule and its inner rules, grouped by what has them, e.g. an attribute. */
function namedBy(rule: RuleDefinition): readonly (readonly [what: string, values: readonly unknown[]])[] {
  const inner = innerRulesOf(rule).flatMap(namedBy)
  if (rule.kind === 'roles') return [['role', Object.keys(rule.roles)]]
  const missing = 'missing' in rule && typeof rule.missing === 'object' ? [rule.missing.value].flat() : []
  const own = [...(rule.kind === 'require' ? constantsOf(rule) : []), ...missing]
  const name = 'attribute' in rule ? rule.attribute : undefined
  return name === undefined || own.length === 0 ? inner : [[name, own], ...inner]
}
