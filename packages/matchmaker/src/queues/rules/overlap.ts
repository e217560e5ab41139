import { z } from 'zod'
import {
  counted,
  inWords,
  limitWords,
  missingWords,
  isSteady,
  tableOf,
  timingOf,
  type Relaxing,
  type Checked,
  type Missing,
  type RuleBase,
  type Refuse,
  type RuleChecks,
  type RuleContext,
  type RuleTicket,
  type Teams,
  base,
  missingSchema,
  notNegative,
  relaxing,
  textSchema,
  textsSchema,
  A_LIST,
  valuesOf,
  type Wanted,
} from '../rule-parts/index.js'

/** The lists of all tickets of the match have at least `atLeast` texts in common. */
export interface OverlapRule extends RuleBase {
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
  attribute: textSchema,
  atLeast: relaxing(notNegative, 'falls').optional(),
  party: z.enum(['intersection', 'union']).optional(),
  missing: missingSchema(textsSchema),
})

/** The texts that a ticket lists. */
interface Listed {
  /** Sorted and distinct. */
  readonly texts: readonly string[]
  /** One bit per text: two lists without a common bit have no text in common. */
  readonly bits: number
}

export function compileOverlap(rule: Checked<OverlapRule>, { index, levels }: RuleContext): RuleChecks {
  const { attribute, atLeast = 1, party = 'intersection', missing, name } = rule
  const least = tableOf(levels, atLeast, 0, rule)
  const timing = timingOf(rule, levels, isSteady(levels, least))
  const wanted: Wanted<readonly string[]> = { attribute, type: A_LIST, missing, rule: name }
  const allows = (teams: Teams, level: number) => allHave(teams, index, least[level] ?? 0)

  const factOf = (ticket: RuleTicket, refuse: Refuse): Listed | undefined => {
    const lists = valuesOf(ticket, wanted, refuse)
    if (lists.length === 0) return undefined
    const texts = [...new Set(party === 'union' ? lists.flat() : inAll(lists))].toSorted()
    const needed = least[levels.last] ?? 0
    if (texts.length < needed) {
      const taken = `rule ${JSON.stringify(name)} never takes fewer than ${Math.ceil(needed)}`
      throw refuse('players', `list ${texts.length} in ${attribute}, and ${taken}`)
    }
    return { texts, bits: texts.reduce((bits, text) => bits | bitOf(text), 0) }
  }

  return {
    factOf,
    pair: (one, other, level) => {
      const needed = least[timing.ofPair(level)] ?? 0
      const [a, b] = [one.of[index] as Listed | undefined, other.of[index] as Listed | undefined]
      if (needed <= 0) return true
      if (a === undefined || b === undefined) return ((a ?? b)?.texts.length ?? Infinity) >= needed
      return (a.bits & b.bits) !== 0 && bothHave(a.texts, b.texts, needed)
    },
    measure: (one, other) => {
      const [a, b] = [one.of[index] as Listed | undefined, other.of[index] as Listed | undefined]
      return a && b && a.texts.filter((text) => b.texts.includes(text)).length
    },
    part: (teams, _, match) => allows(teams, timing.ofPart(match)),
    whole: (teams, match) => allows(teams, timing.ofMatch(match)),
  }
}

const inAll = ([first = [], ...others]: readonly (readonly string[])[]) =>
  first.filter((text) => others.every((list) => list.includes(text)))

/** One of 32 bits, by a hash of the text (FNV-1a). */
function bitOf(text: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  return 1 << (hash >>> 27)
}

/** Whether two sorted lists have at least `needed` texts in common. */
function bothHave(a: readonly string[], b: readonly string[], needed: number): boolean {
  let [common, i, j] = [0, 0, 0]
  while (i < a.length && j < b.length) {
    const [x, y] = [a[i] as string, b[j] as string]
    if (x === y) {
      common += 1
      if (common >= needed) return true
    }
    if (x <= y) i += 1
    if (y <= x) j += 1
  }
  return false
}

/** Whether all tickets that list anything have at least `needed` texts in common. */
function allHave(teams: Teams, index: number, needed: number): boolean {
  if (needed <= 0) return true
  let shortest: Listed | undefined
  let bits = -1
  for (const team of teams) {
    for (const { of } of team) {
      const listed = of[index] as Listed | undefined
      if (listed === undefined) continue
      if (shortest === undefined || listed.texts.length < shortest.texts.length) shortest = listed
      bits &= listed.bits
    }
  }
  if (shortest === undefined) return true
  if (bits === 0) return false
  let common = 0
  for (const text of shortest.texts) {
    if (allList(teams, index, text)) common += 1
    if (common >= needed) return true
  }
  return false
}

function allList(teams: Teams, index: number, text: string): boolean {
  for (const team of teams) {
    for (const { of } of team) {
      const listed = of[index] as Listed | undefined
      if (listed !== undefined && !listed.texts.includes(text)) return false
    }
  }
  return true
}

export function overlapWords({ attribute, atLeast = 1, party, missing }: OverlapRule): string {
  const entries = (least: number) => `${counted(least, 'entry', 'entries')} of ${attribute}`
  const least = limitWords(atLeast, { lead: 'at least', first: entries, show: inWords, free: '' })
  const how = party === 'union' ? '; a party has what any of its players lists' : ''
  return `all players share ${least}${how}${missingWords(attribute, missing)}`
}
