import { validate } from '@muster/core/internal'
import { z } from 'zod'
import {
  comparedWith,
  listed,
  missingWords,
  SIZE,
  valueWords,
  isSteady,
  tableOf,
  timingOf,
  loosest,
  type Relaxing,
  relaxingOf,
  type Checked,
  type Comparison,
  type Missing,
  PARTY_SIZE,
  type RuleBase,
  type Facts,
  type Refuse,
  type RuleChecks,
  type RuleContext,
  type RuleTicket,
  type Scalar,
  type Teams,
  base,
  finite,
  jsonOf,
  limitForms,
  missingSchema,
  operatorSchema,
  partySchema,
  problemOfValue,
  similarTo,
  scalarSchema,
  textSchema,
  textsSchema,
  A_BOOLEAN,
  A_LIST,
  A_NUMBER,
  A_TEXT,
  compares,
  countOf,
  holdsBetween,
  tallyOf,
  valuesOf,
  type ValueType,
  type Wanted,
} from '../rule-parts/index.js'

/** A ticket may be matched only if its own value fits. A ticket whose value can never fit is refused when created. */
export interface RequireRule extends RuleBase {
  readonly kind: 'require'
  /** Name of the attribute that is compared, or `PARTY_SIZE`. */
  readonly attribute: string
  /** How it is compared with `value`. */
  readonly operator: Comparison | 'in' | 'not in' | 'contains' | 'excludes'
  /**
   * What the attribute is compared with: a number, which relaxes in the direction that lets more in; a text or boolean
   * for `=` and `!=`; a list of texts for `in` and `not in`; a text for `contains` and `excludes`, whose attribute is a
   * list.
   */
  readonly value: Relaxing | string | boolean | readonly string[]
  /** The number that represents a party when numbers are compared. Default `each`: every player's own. */
  readonly party?: 'avg' | 'min' | 'max' | 'each' | undefined
  /** Players who do not have the attribute. Default `refuse`. */
  readonly missing?: Missing<string | number | boolean | readonly string[]> | undefined
}

const cannotRelax = z.union([z.string(), finite, z.boolean()], 'must be a number, a text or a boolean: it cannot relax')
const requiredValue = new Map<string, z.ZodType>([
  ['in', textsSchema.min(1)],
  ['not in', textsSchema.min(1)],
  ['contains', textSchema],
  ['excludes', textSchema],
  ['=', cannotRelax],
  ['!=', cannotRelax],
])

/** The type that a `require` rule needs its attribute to have. */
function requiredType({
  operator: how,
  value,
}: Pick<RequireRule, 'operator' | 'value'>): 'number' | 'string' | 'boolean' | 'list' {
  if (how === 'contains' || how === 'excludes') return 'list'
  if (how === 'in' || how === 'not in' || typeof value === 'string') return 'string'
  return typeof value === 'boolean' ? 'boolean' : 'number'
}

export const requireSchema = z
  .strictObject({
    kind: z.literal('require'),
    ...base,
    attribute: textSchema,
    operator: operatorSchema,
    value: z
      .custom<RequireRule['value']>((value) => value !== undefined, 'must be given')
      .meta({
        get anyOf() {
          return [{ anyOf: limitForms(finite) }, ...[z.string(), z.boolean(), textsSchema].map(jsonOf)]
        },
      }),
    party: partySchema,
    missing: missingSchema(z.union([scalarSchema, textsSchema])),
  })
  .superRefine((rule, context) => {
    const refuse = (path: PropertyKey[], message: string) => context.addIssue({ code: 'custom', path, message })
    const schema = requiredValue.get(rule.operator)
    const fault = schema && validate(schema, rule.value).fault
    const problem = schema
      ? fault && { path: fault.path, message: fault.wrong }
      : problemOfValue(rule.operator, rule.value)
    if (problem !== undefined) refuse(['value', ...problem.path], problem.message)
    const type = requiredType(rule)
    if (typeof rule.missing === 'object' && typeof rule.missing.value !== (type === 'list' ? 'object' : type)) {
      refuse(['missing', 'value'], `must be a ${type}, as the rule compares`)
    }
    if (rule.party !== undefined && type !== 'number') refuse(['party'], 'is for comparisons of numbers')
  })

export function compileRequire(rule: Checked<RequireRule>, { index, levels, isInner }: RuleContext): RuleChecks {
  const fitsAt = testOf(rule)
  // The table has NaN where the rule does not count, and one value everywhere if the rule cannot relax.
  const limits = tableOf(levels, relaxingOf(rule.value) ?? 0, Number.NaN, rule)
  /** The level from which the ticket may be matched. */
  const factOf = (ticket: RuleTicket, refuse: Refuse): number => {
    const fits = fitsAt(ticket, refuse)
    const from = limits.findIndex((limit) => Number.isNaN(limit) || fits(limit))
    if (from >= 0) return from
    const wants = `${rule.attribute} ${rule.operator} ${limitOf(rule)}${similarWords(rule, ticket)}`
    throw refuse('players', `never meet rule ${JSON.stringify(rule.name)}, which wants ${wants}`)
  }
  // A rule that never relaxes is decided when the ticket is created.
  const saysOf = (teams: Teams) => countOf(teams.flat(), { attribute: rule.attribute, missing: rule.missing }) > 0
  if (limits.every((limit) => limit === limits[0])) return { factOf, saysOf }
  // Who is in a match already needs no level any more.
  const fromLevel = ({ of, isPresent }: Facts) => (isPresent === true ? 0 : (of[index] as number))
  if (rule.by === 'each' && isInner !== true) {
    return {
      factOf,
      saysOf,
      pair: (one, other, level, levelOfOne = level, levelOfOther = level) =>
        fromLevel(one) <= levelOfOne && fromLevel(other) <= levelOfOther,
      // A party that fills a match is in no pair.
      whole: (teams, { youngest }) => {
        const [one, ...others] = teams.flat()
        return one === undefined || others.length > 0 || fromLevel(one) <= youngest
      },
    }
  }
  const timing = timingOf(rule, levels, isSteady(levels, limits))
  const allAt = (teams: Teams, level: number) => teams.every((team) => team.every((one) => fromLevel(one) <= level))
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
  const relaxing = relaxingOf(value)
  return relaxing === undefined ? JSON.stringify(value) : String(loosest(relaxing))
}

/** Says that a value of the ticket is what the rule wants in another Unicode form. */
function similarWords({ attribute, value }: RequireRule, { players }: RuleTicket): string {
  const own = players.flatMap(({ attributes }) => (Object.hasOwn(attributes, attribute) ? attributes[attribute] : []))
  const near = relaxingOf(value) === undefined ? similarTo(own.flat(), [value].flat()) : undefined
  return near === undefined ? '' : `; that is their ${JSON.stringify(near.value)} ${near.how}`
}

/** The schema has checked that the value for players without the attribute has the right type. */
const wantedOf = <Value>(
  { attribute, missing, name }: Checked<RequireRule>,
  type: ValueType<Value>,
): Wanted<Value> => ({
  attribute,
  type,
  missing: missing as Missing<Value> | undefined,
  rule: name,
})

/** Makes the test whether a ticket's own values fit a limit. */
function testOf(rule: Checked<RequireRule>): (ticket: RuleTicket, refuse: Refuse) => (limit: number) => boolean {
  const { operator, value, party = 'each' } = rule
  const every = <Value>(type: ValueType<Value>, test: (value: Value) => boolean) => {
    const wanted = wantedOf(rule, type)
    return (ticket: RuleTicket, refuse: Refuse) => {
      const all = valuesOf(ticket, wanted, refuse).every(test)
      return () => all
    }
  }
  const asStated = (one: Scalar | readonly string[]) => holdsBetween(one, operator, value as string | readonly string[])
  if (operator === 'in' || operator === 'not in') return every(A_TEXT, asStated)
  if (operator === 'contains' || operator === 'excludes') return every(A_LIST, asStated)
  if (typeof value === 'string') return every(A_TEXT, asStated)
  if (typeof value === 'boolean') return every(A_BOOLEAN, asStated)
  const number = wantedOf(rule, A_NUMBER)
  return (ticket, refuse) => {
    const values = valuesOf(ticket, number, refuse)
    if (values.length === 0) return () => true
    const { min, max, sum, count } = tallyOf(values)
    if (party === 'each') return (limit) => values.every((one) => compares(one, operator, limit))
    const stands = party === 'avg' ? sum / count : party === 'min' ? min : max
    return (limit) => compares(stands, operator, limit)
  }
}

const WHOSE_NUMBER = { avg: "party's average", min: "party's lowest", max: "party's highest", each: "player's" }

export function requireWords({ attribute, operator, value, party = 'each', missing }: RequireRule): string {
  const unless = missingWords(attribute, missing)
  if (operator === 'contains') return `every player has ${valueWords(value)} in ${attribute}${unless}`
  if (operator === 'excludes') return `no player has ${valueWords(value)} in ${attribute}${unless}`
  const what = attribute === PARTY_SIZE ? SIZE : `every ${WHOSE_NUMBER[party]} ${attribute}`
  if (operator === 'in') return `${what} is ${listed((value as readonly string[]).map(valueWords), 'or')}${unless}`
  if (operator === 'not in') return `${what} is none of ${valueWords(value)}${unless}`
  const limit = relaxingOf(value)
  if (limit !== undefined && operator !== '=' && operator !== '!=')
    return `${what} is ${comparedWith(operator, limit)}${unless}`
  return `${what} is ${operator === '=' ? '' : 'not '}${valueWords(value)}${unless}`
}
