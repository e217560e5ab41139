import { z } from 'zod'
import type {
  RelaxingLimit,
  Checked,
  Missing,
  RuleBase,
  Refuse,
  RuleChecks,
  RuleContext,
  RuleTicket,
  TeamMembers,
  Among,
  WantedValue,
  Facts,
} from '../rule-parts/index.js'
import * as parts from '../rule-parts/index.js'

/** The lists of all tickets of the match have at least `atLeast` strings in common. */
export interface OverlapRule extends RuleBase, Among {
  readonly kind: 'overlap'
  /** Name of an attribute that is a list of strings. */
  readonly attribute: string
  /** Number of strings in common. Default 1. Relaxes downwards. */
  readonly atLeast?: RelaxingLimit | undefined
  /**
   * The list that represents a party: the strings that all of its players list (default `intersection`), or that any of
   * them lists (`union`).
   */
  readonly party?: 'intersection' | 'union' | undefined
  /**
   * What happens with players without the attribute. `refuse` (default): their tickets are refused when created. `any`:
   * the rule ignores these players. `{ value }`: they count as having this value.
   */
  readonly missing?: Missing<readonly string[]> | undefined
}

export const overlapSchema = z.strictObject({
  kind: z.literal('overlap'),
  ...parts.base,
  ...parts.among,
  attribute: parts.textSchema,
  atLeast: parts.relaxing(parts.notNegative, 'falls').optional(),
  party: z.enum(['intersection', 'union']).optional(),
  missing: parts.missingSchema(parts.textsSchema),
})

export function compileOverlap(rule: Checked<OverlapRule>, context: RuleContext): RuleChecks {
  const { index, levels } = context
  const groups = parts.groupsAmong(rule, context)
  const { attribute, atLeast = 1, party = 'intersection', missing, name } = rule
  const least = parts.timedLimits(rule, levels, atLeast, 0)
  const wanted: WantedValue<readonly string[]> = { attribute, type: parts.A_LIST, missing, rule: name }
  /** Returns the strings that a ticket lists; undefined if the ticket accepts any. */
  const listOf = ({ of }: Facts) => of[index] as ReadonlySet<string> | undefined
  const allHave = (members: readonly Facts[], needed: number): boolean => {
    if (needed <= 0) return true
    const lists = members.map(listOf).filter((list) => list !== undefined)
    return lists.length === 0 || inAll(lists).length >= needed
  }

  const factOf = (ticket: RuleTicket, refuse: Refuse): ReadonlySet<string> | undefined => {
    const lists = parts.valuesOf(ticket, wanted, refuse)
    if (lists.length === 0) return undefined
    const texts = new Set(party === 'union' ? lists.flat() : inAll(lists.map((list) => new Set(list))))
    const needed = least.table[levels.last] ?? 0
    if (groups === undefined && texts.size < needed) {
      const taken = `rule ${JSON.stringify(name)} never takes fewer than ${Math.ceil(needed)}`
      throw refuse('players', `list ${texts.size} in ${attribute}, and ${taken}`)
    }
    return texts
  }

  const groupsOf = groups ?? ((teams: TeamMembers): TeamMembers => [teams.flat()])
  const allShare = (teams: TeamMembers, needed: number) => groupsOf(teams).every((members) => allHave(members, needed))
  return {
    factOf,
    saysOf: (teams) => groupsOf(teams).some((members) => parts.countOf(members, wanted) > 1),
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

/** Returns the strings of the first list that all other lists contain. */
const inAll = ([first = new Set(), ...others]: readonly ReadonlySet<string>[]): string[] =>
  [...first].filter((text) => others.every((list) => list.has(text)))

export function overlapWords({ attribute, atLeast = 1, party, missing, scope, team }: OverlapRule): string {
  const entries = (least: number) => `${parts.counted(least, 'entry', 'entries')} of ${attribute}`
  const least = parts.limitWords(atLeast, { lead: 'at least', first: entries, show: parts.inWords, free: '' })
  const how = party === 'union' ? '; a party has what any of its players lists' : ''
  return `all players share ${least}${parts.amongWords({ scope, team })}${how}${parts.missingWords(attribute, missing)}`
}
