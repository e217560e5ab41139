import { z } from 'zod'
import {
  counted,
  inWords,
  limitWords,
  missingWords,
  type Relaxing,
  type Checked,
  type Missing,
  type RuleBase,
  type Refuse,
  type RuleChecks,
  type RuleContext,
  type RuleTicket,
  type Teams,
  type Among,
  amongWords,
  groupsAmong,
  among,
  base,
  missingSchema,
  notNegative,
  relaxing,
  textSchema,
  textsSchema,
  A_LIST,
  countOf,
  valuesOf,
  type Wanted,
  timedLimits,
  type Facts,
} from '../rule-parts/index.js'

/** The lists of all tickets of the match have at least `atLeast` texts in common. */
export interface OverlapRule extends RuleBase, Among {
  readonly kind: 'overlap'
  /** Name of an attribute that is a list of texts. */
  readonly attribute: string
  /** Number of texts in common. Default 1. Relaxes downwards. */
  readonly atLeast?: Relaxing | undefined
  /** The list that represents a party: what all its players list (default), or what any of them lists. */
  readonly party?: 'intersection' | 'union' | undefined
  /** Players who do not have the attribute. Default `refuse`. */
  readonly missing?: Missing<readonly string[]> | undefined
}

export const overlapSchema = z.strictObject({
  kind: z.literal('overlap'),
  ...base,
  ...among,
  attribute: textSchema,
  atLeast: relaxing(notNegative, 'falls').optional(),
  party: z.enum(['intersection', 'union']).optional(),
  missing: missingSchema(textsSchema),
})

export function compileOverlap(rule: Checked<OverlapRule>, context: RuleContext): RuleChecks {
  const { index, levels } = context
  const groups = groupsAmong(rule, context)
  const { attribute, atLeast = 1, party = 'intersection', missing, name } = rule
  const least = timedLimits(rule, levels, atLeast, 0)
  const wanted: Wanted<readonly string[]> = { attribute, type: A_LIST, missing, rule: name }
  /** The texts that a ticket lists; undefined if it goes with any. */
  const listOf = ({ of }: Facts) => of[index] as ReadonlySet<string> | undefined
  const allHave = (members: readonly Facts[], needed: number): boolean => {
    if (needed <= 0) return true
    const lists = members.map(listOf).filter((list) => list !== undefined)
    return lists.length === 0 || inAll(lists).length >= needed
  }

  const factOf = (ticket: RuleTicket, refuse: Refuse): ReadonlySet<string> | undefined => {
    const lists = valuesOf(ticket, wanted, refuse)
    if (lists.length === 0) return undefined
    const texts = new Set(party === 'union' ? lists.flat() : inAll(lists.map((list) => new Set(list))))
    const needed = least.table[levels.last] ?? 0
    if (groups === undefined && texts.size < needed) {
      const taken = `rule ${JSON.stringify(name)} never takes fewer than ${Math.ceil(needed)}`
      throw refuse('players', `list ${texts.size} in ${attribute}, and ${taken}`)
    }
    return texts
  }

  const groupsOf = groups ?? ((teams: Teams): Teams => [teams.flat()])
  const allShare = (teams: Teams, needed: number) => groupsOf(teams).every((members) => allHave(members, needed))
  return {
    factOf,
    saysOf: (teams) => groupsOf(teams).some((members) => countOf(members, wanted) > 1),
    ...(groups === undefined && {
      pair: (one: Facts, other: Facts, level: number) => allHave([one, other], least.ofPair(level)),
    }),
    measure: (one, other) => {
      const [a, b] = [listOf(one), listOf(other)]
      return a && b && inAll([a, b]).length
    },
    part: (teams, _, match) => allShare(teams, least.ofPart(match)),
    whole: (teams, match) => allShare(teams, least.ofMatch(match)),
  }
}

/** The texts of the first list that all others have too. */
const inAll = ([first = new Set(), ...others]: readonly ReadonlySet<string>[]): string[] =>
  [...first].filter((text) => others.every((list) => list.has(text)))

export function overlapWords({ attribute, atLeast = 1, party, missing, scope, team }: OverlapRule): string {
  const entries = (least: number) => `${counted(least, 'entry', 'entries')} of ${attribute}`
  const least = limitWords(atLeast, { lead: 'at least', first: entries, show: inWords, free: '' })
  const how = party === 'union' ? '; a party has what any of its players lists' : ''
  return `all players share ${least}${amongWords({ scope, team })}${how}${missingWords(attribute, missing)}`
}
