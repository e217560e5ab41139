import { z } from 'zod'
import {
  type Among,
  amongWords,
  attributeWords,
  groupsAmong,
  limitWords,
  missingWords,
  compileApart,
  type Relaxing,
  type Checked,
  type Missing,
  PARTY_SIZE,
  type RuleBase,
  type Facts,
  type Refuse,
  type RuleChecks,
  type RuleContext,
  type RuleTicket,
  type Teams,
  among,
  base,
  finite,
  missingSchema,
  notNegative,
  partySchema,
  relaxing,
  textSchema,
  A_NUMBER,
  countOf,
  type Wanted,
  tallyOf,
  timedLimits,
  valuesOf,
} from '../rule-parts/index.js'

/** Any two tickets differ in a number by at most `max`. */
export interface DifferenceRule extends RuleBase, Among {
  readonly kind: 'difference'
  /** Name of a number attribute, or `PARTY_SIZE` for the number of players in the ticket. */
  readonly attribute: string
  /** The difference at most. */
  readonly max: Relaxing
  /**
   * The number that represents a party: the average (default), lowest or highest of its players, or each player's own.
   */
  readonly party?: 'avg' | 'min' | 'max' | 'each' | undefined
  /** Players who do not have the attribute. Default `refuse`. */
  readonly missing?: Missing<number> | undefined
}

export const differenceSchema = z.strictObject({
  kind: z.literal('difference'),
  ...base,
  ...among,
  attribute: textSchema,
  max: relaxing(notNegative, 'rises'),
  party: partySchema,
  missing: missingSchema(finite),
})

type Bounds = readonly [low: number, high: number]

const ANYTHING: Bounds = [Number.NaN, Number.NaN]

export function compileDifference(rule: Checked<DifferenceRule>, context: RuleContext): RuleChecks {
  const { attribute, missing, party = 'avg', name } = rule
  const { levels, index } = context
  const groups = groupsAmong(rule, context)
  const limit = timedLimits(rule, levels, rule.max, Infinity)
  const most = limit.table[levels.last] ?? Infinity
  const wanted: Wanted<number> = { attribute, type: A_NUMBER, missing, rule: name }
  const boundsOf = (ticket: RuleTicket, refuse: Refuse): Bounds => {
    const { count, sum, min, max } = tallyOf(valuesOf(ticket, wanted, refuse))
    if (count === 0) return ANYTHING
    if (party !== 'each') {
      const value = party === 'avg' ? sum / count : party === 'min' ? min : max
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
    const [[low, high], [least, greatest]] = [one.of[index] as Bounds, other.of[index] as Bounds]
    // NaN, of a ticket that goes with any value, is never above the limit.
    return !(Math.max(high, greatest) - Math.min(low, least) > allowed)
  }
  const saysOf = (teams: Teams) => (groups?.(teams) ?? [teams.flat()]).some((members) => countOf(members, wanted) > 1)
  return { ...compileApart(limit, isWithin, groups), saysOf, factOf: boundsOf }
}

const DIFFERING = {
  avg: '',
  min: '; a party counts by its lowest',
  max: '; a party counts by its highest',
  each: '; every player of a party counts',
}

export function differenceWords({ attribute, max, party = 'avg', missing, scope, team }: DifferenceRule): string {
  const most = limitWords(max, { lead: 'at most', free: 'any amount' })
  const how = attribute === PARTY_SIZE ? '' : DIFFERING[party]
  const whose = amongWords({ scope, team })
  return `players differ in ${attributeWords(attribute)} by ${most}${whose}${how}${missingWords(attribute, missing)}`
}
