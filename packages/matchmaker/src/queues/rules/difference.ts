import { z } from 'zod'
import type {
  Among,
  RelaxingLimit,
  Checked,
  Missing,
  RuleBase,
  Facts,
  Refuse,
  RuleChecks,
  RuleContext,
  RuleTicket,
  TeamMembers,
  WantedValue,
} from '../rule-parts/index.js'
import * as parts from '../rule-parts/index.js'

/** Any two tickets differ in a number by at most `max`. */
export interface DifferenceRule extends RuleBase, Among {
  readonly kind: 'difference'
  /** Name of a number attribute, or `PARTY_SIZE` for the number of players in the ticket. */
  readonly attribute: string
  /** Maximum difference between any two tickets. */
  readonly max: RelaxingLimit
  /**
   * The number that represents a party: the average (default), lowest or highest of its players, or each player's own,
   * so that players of one party are compared too.
   */
  readonly party?: 'avg' | 'min' | 'max' | 'each' | undefined
  /**
   * What happens with players without the attribute. `refuse` (default): their tickets are refused when created. `any`:
   * the rule ignores these players. `{ value }`: they count as having this value.
   */
  readonly missing?: Missing<number> | undefined
}

export const differenceSchema = z.strictObject({
  kind: z.literal('difference'),
  ...parts.base,
  ...parts.among,
  attribute: parts.textSchema,
  max: parts.relaxing(parts.notNegative, 'rises'),
  party: parts.partySchema,
  missing: parts.missingSchema(parts.finite),
})

type ValueRange = readonly [low: number, high: number]

const ANYTHING: ValueRange = [Number.NaN, Number.NaN]

export function compileDifference(rule: Checked<DifferenceRule>, context: RuleContext): RuleChecks {
  const { attribute, missing, party = 'avg', name } = rule
  const { levels, index } = context
  const groups = parts.groupsAmong(rule, context)
  const limit = parts.timedLimits(rule, levels, rule.max, Infinity)
  const most = limit.table[levels.last] ?? Infinity
  const wanted: WantedValue<number> = { attribute, type: parts.A_NUMBER, missing, rule: name }
  const boundsOf = (ticket: RuleTicket, refuse: Refuse): ValueRange => {
    const values = parts.valuesOf(ticket, wanted, refuse)
    const { count, sum, min, max } = parts.tallyOf(values)
    if (count === 0) return ANYTHING
    if (party !== 'each') {
      // If the sum overflows to Infinity, divide before adding: an infinite average would count as a ticket that
      // accepts any value.
      const mean = Number.isFinite(sum) ? sum / count : values.reduce((all, one) => all + one / count, 0)
      const value = party === 'avg' ? mean : party === 'min' ? min : max
      return [value, value]
    }
    if (groups === undefined && max - min > most) {
      const allowed = `rule ${JSON.stringify(name)} never allows more than ${most}`
      throw refuse('players', `differ by ${max - min} in ${attribute}, and ${allowed}`)
    }
    return [min, max]
  }
  if (context.isInner !== true && groups === undefined) return { span: { by: rule.by, limit: limit.table }, boundsOf }
  const isWithin = (one: Facts, other: Facts, allowed: number) => {
    const [[low, high], [least, greatest]] = [one.of[index] as ValueRange, other.of[index] as ValueRange]
    // A ticket that accepts any value has NaN, which is never above the limit.
    return !(Math.max(high, greatest) - Math.min(low, least) > allowed)
  }
  const saysOf = (teams: TeamMembers) =>
    (groups?.(teams) ?? [teams.flat()]).some((members) => parts.countOf(members, wanted) > 1)
  return { ...parts.compileApart(limit, isWithin, groups), saysOf, factOf: boundsOf }
}

const DIFFERING = {
  avg: '',
  min: '; a party counts by its lowest',
  max: '; a party counts by its highest',
  each: '; every player of a party counts',
}

export function differenceWords({ attribute, max, party = 'avg', missing, scope, team }: DifferenceRule): string {
  const most = parts.limitWords(max, { lead: 'at most', free: 'any amount' })
  const how = attribute === parts.PARTY_SIZE ? '' : DIFFERING[party]
  const whose = parts.amongWords({ scope, team })
  const unless = parts.missingWords(attribute, missing)
  return `players differ in ${parts.attributeWords(attribute)} by ${most}${whose}${how}${unless}`
}
