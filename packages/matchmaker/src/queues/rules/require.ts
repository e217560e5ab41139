import { validate } from '@muster/core/internal'
import { z } from 'zod'
import type {
  RelaxingLimit,
  Checked,
  Comparison,
  Missing,
  RuleBase,
  Facts,
  Refuse,
  RuleChecks,
  RuleContext,
  RuleTicket,
  Scalar,
  TeamMembers,
  ValueType,
  WantedValue,
} from '../rule-parts/index.js'
import * as parts from '../rule-parts/index.js'

/**
 * A ticket may be matched only if its own value satisfies the condition. A ticket whose value can never satisfy it is
 * refused when created.
 */
export interface RequireRule extends RuleBase {
  readonly kind: 'require'
  /** Name of the compared attribute, or `PARTY_SIZE`. */
  readonly attribute: string
  /** How the attribute is compared with `value`. */
  readonly operator: Comparison | 'in' | 'not in' | 'contains' | 'excludes'
  /**
   * The value to compare with. A number relaxes in the direction that allows more. `=` and `!=` also take a string or
   * boolean, `in` and `not in` a list of strings. `contains` and `excludes` take a string, and their attribute is a
   * list.
   */
  readonly value: RelaxingLimit | string | boolean | readonly string[]
  /**
   * The number that represents a party when numbers are compared. Default `each`: every player's number is compared.
   */
  readonly party?: 'avg' | 'min' | 'max' | 'each' | undefined
  /**
   * What happens with players without the attribute. `refuse` (default): their tickets are refused when created. `any`:
   * the rule ignores these players. `{ value }`: they count as having this value.
   */
  readonly missing?: Missing<string | number | boolean | readonly string[]> | undefined
}

const cannotRelax = z.union(
  [z.string(), parts.finite, z.boolean()],
  'must be a number, a text or a boolean: it cannot relax',
)
const requiredValue = new Map<string, z.ZodType>([
  ['in', parts.textsSchema.min(1)],
  ['not in', parts.textsSchema.min(1)],
  ['contains', parts.textSchema],
  ['excludes', parts.textSchema],
  ['=', cannotRelax],
  ['!=', cannotRelax],
])

/** The `typeof` of values of each type. */
const TYPE_OF = { number: 'number', text: 'string', boolean: 'boolean', list: 'object' } as const

/** Returns the type that a `require` rule requires of its attribute. */
export function requiredType({
  operator: how,
  value,
}: Pick<RequireRule, 'operator' | 'value'>): 'number' | 'text' | 'boolean' | 'list' {
  if (how === 'contains' || how === 'excludes') return 'list'
  if (how === 'in' || how === 'not in' || typeof value === 'string') return 'text'
  return typeof value === 'boolean' ? 'boolean' : 'number'
}

export const requireSchema = z
  .strictObject({
    kind: z.literal('require'),
    ...parts.base,
    attribute: parts.textSchema,
    operator: parts.operatorSchema,
    value: z
      .custom<RequireRule['value']>((value) => value !== undefined, 'must be given')
      .meta({
        get anyOf() {
          return [
            { anyOf: parts.limitForms(parts.finite) },
            ...[z.string(), z.boolean(), parts.textsSchema].map(parts.jsonOf),
          ]
        },
      }),
    party: parts.partySchema,
    missing: parts.missingSchema(z.union([parts.scalarSchema, parts.textsSchema])),
  })
  .superRefine((rule, context) => {
    const refuse = (path: PropertyKey[], message: string) => context.addIssue({ code: 'custom', path, message })
    const schema = requiredValue.get(rule.operator)
    const fault = schema && validate(schema, rule.value).fault
    const problem = schema
      ? fault && { path: fault.path, message: fault.wrong }
      : parts.problemOfValue(rule.operator, rule.value)
    if (problem !== undefined) refuse(['value', ...problem.path], problem.message)
    const type = requiredType(rule)
    if (typeof rule.missing === 'object' && typeof rule.missing.value !== TYPE_OF[type]) {
      refuse(['missing', 'value'], `must be a ${type}, the type that the rule compares`)
    }
    if (rule.party !== undefined && type !== 'number') refuse(['party'], 'is only allowed for comparisons of numbers')
  })

export function compileRequire(rule: Checked<RequireRule>, { index, levels, isInner }: RuleContext): RuleChecks {
  const fitsAt = testOf(rule)
  // The table has NaN where the rule does not apply, and one value everywhere if the rule cannot relax.
  const limits = parts.tableOf(levels, parts.relaxingOf(rule.value) ?? 0, Number.NaN, rule)
  /** Returns the level from which the ticket may be matched. */
  const factOf = (ticket: RuleTicket, refuse: Refuse): number => {
    const fits = fitsAt(ticket, refuse)
    const from = limits.findIndex((limit) => Number.isNaN(limit) || fits(limit))
    if (from >= 0) return from
    const wants = `${rule.attribute} ${rule.operator} ${limitOf(rule)}${similarWords(rule, ticket)}`
    throw refuse('players', `can never satisfy rule ${JSON.stringify(rule.name)}, which requires ${wants}`)
  }
  // If the rule never relaxes, its result was decided when the ticket was created, so no check of matches is needed.
  const saysOf = (teams: TeamMembers) =>
    parts.countOf(teams.flat(), { attribute: rule.attribute, missing: rule.missing }) > 0
  if (limits.every((limit) => limit === limits[0])) return { factOf, saysOf }
  // A player of a running match need not reach any level.
  const fromLevel = ({ of, isPresent }: Facts) => (isPresent === true ? 0 : (of[index] as number))
  if (rule.by === 'each' && isInner !== true) {
    return {
      factOf,
      saysOf,
      pair: (one, other, level, levelOfOne = level, levelOfOther = level) =>
        fromLevel(one) <= levelOfOne && fromLevel(other) <= levelOfOther,
      // A party that fills a match has no pair to check, so the whole match is checked.
      whole: (teams, { youngest }) => {
        const [one, ...others] = teams.flat()
        return one === undefined || others.length > 0 || fromLevel(one) <= youngest
      },
    }
  }
  const timing = parts.timingOf(rule, levels, parts.isSteady(levels, limits))
  const allAt = (teams: TeamMembers, level: number) =>
    teams.every((team) => team.every((one) => fromLevel(one) <= level))
  return {
    factOf,
    saysOf,
    pair: (one, other, level) => {
      const at = timing.ofPair(level)
      return fromLevel(one) <= at && fromLevel(other) <= at
    },
    part: (teams, _, match) => allAt(teams, timing.ofPart(match)),
    whole: (teams, match) => allAt(teams, timing.ofMatch(match)),
  }
}

const limitOf = ({ value }: RequireRule) => {
  const relaxing = parts.relaxingOf(value)
  return relaxing === undefined ? JSON.stringify(value) : String(parts.loosest(relaxing))
}

/** Returns the hint that a value of the ticket is the required value in another Unicode form. */
function similarWords({ attribute, value }: RequireRule, { players }: RuleTicket): string {
  const own = players.flatMap(({ attributes }) => (Object.hasOwn(attributes, attribute) ? attributes[attribute] : []))
  const near = parts.relaxingOf(value) === undefined ? parts.similarTo(own.flat(), [value].flat()) : undefined
  return near === undefined ? '' : `; that is their ${JSON.stringify(near.value)} ${near.how}`
}

/** Returns the wanted value. The schema has validated the type of the default for players without the attribute. */
const wantedOf = <Value>(
  { attribute, missing, name }: Checked<RequireRule>,
  type: ValueType<Value>,
): WantedValue<Value> => ({
  attribute,
  type,
  missing: missing as Missing<Value> | undefined,
  rule: name,
})

/** Creates the test of a ticket's own values against a limit. */
function testOf(rule: Checked<RequireRule>): (ticket: RuleTicket, refuse: Refuse) => (limit: number) => boolean {
  const { operator, value, party = 'each' } = rule
  const every = <Value>(type: ValueType<Value>, test: (value: Value) => boolean) => {
    const wanted = wantedOf(rule, type)
    return (ticket: RuleTicket, refuse: Refuse) => {
      const all = parts.valuesOf(ticket, wanted, refuse).every(test)
      return () => all
    }
  }
  const asStated = (one: Scalar | readonly string[]) =>
    parts.holdsBetween(one, operator, value as string | readonly string[])
  if (operator === 'in' || operator === 'not in') return every(parts.A_TEXT, asStated)
  if (operator === 'contains' || operator === 'excludes') return every(parts.A_LIST, asStated)
  if (typeof value === 'string') return every(parts.A_TEXT, asStated)
  if (typeof value === 'boolean') return every(parts.A_BOOLEAN, asStated)
  const number = wantedOf(rule, parts.A_NUMBER)
  return (ticket, refuse) => {
    const values = parts.valuesOf(ticket, number, refuse)
    if (values.length === 0) return () => true
    const { min, max, sum, count } = parts.tallyOf(values)
    if (party === 'each') return (limit) => values.every((one) => parts.compares(one, operator, limit))
    const stands = party === 'avg' ? sum / count : party === 'min' ? min : max
    return (limit) => parts.compares(stands, operator, limit)
  }
}

const WHOSE_NUMBER = { avg: "party's average", min: "party's lowest", max: "party's highest", each: "player's" }

export function requireWords({ attribute, operator, value, party = 'each', missing }: RequireRule): string {
  const unless = parts.missingWords(attribute, missing)
  if (operator === 'contains') return `every player has ${parts.valueWords(value)} in ${attribute}${unless}`
  if (operator === 'excludes') return `no player has ${parts.valueWords(value)} in ${attribute}${unless}`
  const what = attribute === parts.PARTY_SIZE ? parts.SIZE : `every ${WHOSE_NUMBER[party]} ${attribute}`
  if (operator === 'in')
    return `${what} is ${parts.listed((value as readonly string[]).map(parts.valueWords), 'or')}${unless}`
  if (operator === 'not in') return `${what} is none of ${parts.valueWords(value)}${unless}`
  const limit = parts.relaxingOf(value)
  if (limit !== undefined && operator !== '=' && operator !== '!=')
    return `${what} is ${parts.comparedWith(operator, limit)}${unless}`
  return `${what} is ${operator === '=' ? '' : 'not '}${parts.valueWords(value)}${unless}`
}
