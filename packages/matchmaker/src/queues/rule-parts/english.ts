// pure: numbers, durations, lists and limits in English
import { isBounds, type RelaxingLimit } from './relaxing.js'
import { type Among, type Comparison, type Missing, PARTY_SIZE } from './rule-base.js'

const SMALL = 'none one two three four five six seven eight nine ten eleven twelve'.split(' ')

/** Created on first use: creation takes 10 ms, and a starting program describes no queue. */
let format: Intl.NumberFormat | undefined

/** Formats a number, e.g. `2,000` or `0.5`. */
export const digits = (value: number): string =>
  (format ??= new Intl.NumberFormat('en-US', { maximumFractionDigits: 12 })).format(value)

/** Returns a small number in words, e.g. `five`, and others in digits, e.g. `13`. */
export const inWords = (value: number): string => SMALL[value] ?? digits(value)

/** Returns a number with its noun, e.g. `one player` or `five players`. */
export const counted = (value: number, one: string, many = `${one}s`): string =>
  `${value === 0 ? 'no' : inWords(value)} ${value === 1 ? one : many}`

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

/** Formats a duration, e.g. `250 ms`, `90 s`, `5 min` or `24 h`. */
export function duration(ms: number): string {
  if (ms >= 2 * HOUR && ms % HOUR === 0) return `${digits(ms / HOUR)} h`
  if (ms >= 2 * MINUTE && ms % MINUTE === 0) return `${digits(ms / MINUTE)} min`
  return ms < SECOND && ms > 0 ? `${digits(ms)} ms` : `${digits(ms / SECOND)} s`
}

/** Joins words, e.g. `a, b and c`. */
export const listed = (words: readonly string[], last: 'and' | 'or' = 'and'): string =>
  words.length < 2 ? (words[0] ?? '') : `${words.slice(0, -1).join(', ')} ${last} ${words.at(-1)}`

/** Returns a value as the definition has it, e.g. `"ranked"`, `2,000`, `true` or `"a" and "b"`. */
export function valueWords(value: unknown): string {
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : listed(value.map(valueWords))
  return typeof value === 'number' ? digits(value) : JSON.stringify(value)
}

/** Makes a clause a sentence. */
export const sentence = (clause: string): string => `${clause.charAt(0).toUpperCase()}${clause.slice(1)}.`

interface LimitWords {
  /** The words before the limit, e.g. `at most`. */
  readonly lead: string
  /** Formats a limit with its unit. */
  readonly show?: ((limit: number) => string) | undefined
  /** Formats the first limit, if its text is longer than that of the later limits. */
  readonly first?: ((limit: number) => string) | undefined
  /** Text for no limit, e.g. `anywhere`. */
  readonly free: string
  /** Text for no limit from the beginning, if it differs from `free`. */
  readonly freeAtFirst?: string | undefined
}

/** Describes a relaxing limit, e.g. `within 500 km at first, 2,000 km after 10 s, anywhere after 60 s`. */
export function limitWords(
  relaxing: RelaxingLimit,
  { lead, show = digits, first = show, free, freeAtFirst = free }: LimitWords,
): string {
  const begin = (limit: number) => (limit === Infinity ? freeAtFirst : `${lead} ${first(limit)}`)
  if (typeof relaxing === 'number') return begin(relaxing)
  if (isBounds(relaxing)) {
    const { strictest, loosest } = relaxing
    if (strictest === loosest) return begin(strictest)
    return `${begin(strictest)} at the strictest, ${show(loosest)} at the loosest`
  }
  if ('from' in relaxing) {
    const { from, to, startMs = 0, overMs } = relaxing
    if (from === to) return begin(from)
    const when =
      startMs === 0 ? `over ${duration(overMs)}` : `between ${duration(startMs)} and ${duration(startMs + overMs)}`
    return `${begin(from)} at first, ${to > from ? 'growing' : 'falling'} evenly to ${show(to)} ${when}`
  }
  const [start, ...later] = relaxing
  const words = later.map(({ afterMs, value }, index) => {
    const isSame = value === relaxing[index]?.value
    return `${isSame ? 'still ' : ''}${value === Infinity ? free : show(value)} after ${duration(afterMs)}`
  })
  const now = begin(start?.value ?? 0)
  return words.length === 0 ? now : [`${now} at first`, ...words].join(', ')
}

const COMPARED: Readonly<Record<Comparison, string>> = {
  '=': 'exactly',
  '!=': 'anything but',
  '<': 'below',
  '<=': 'at most',
  '>': 'above',
  '>=': 'at least',
}

/** Returns the words between a value and the value it is compared with, e.g. `at least`. */
export const comparisonWords = (operator: Comparison): string => COMPARED[operator]

/** Describes a comparison with a relaxing limit, e.g. `at least 10 at first, 5 after 20 s`. */
export const comparedWith = (operator: Comparison, limit: RelaxingLimit): string =>
  limitWords(limit, { lead: COMPARED[operator], free: 'anything' })

/** Returns the name of an attribute; words for the size of a party. */
export const attributeWords = (attribute: string | undefined): string =>
  attribute === PARTY_SIZE ? 'party size' : (attribute ?? '')

/** Returns e.g. `; players without skill count as 1,000`, or an empty string if such players are refused. */
export function missingWords(attribute: string | undefined, missing: Missing<unknown> | undefined): string {
  if (missing === undefined || missing === 'refuse') return ''
  const who = `; players without ${attributeWords(attribute)}`
  return missing === 'any' ? `${who} are free of it` : `${who} count as ${valueWords(missing.value)}`
}

export const SIZE = "every party's size"

export const MADE = { avg: 'average', min: 'lowest', max: 'highest', sum: 'total' }

/** Returns e.g. `, among players of team red`, or an empty string for a rule about all players. */
export function amongWords({ scope = 'match', team }: Among): string {
  if (team !== undefined) return `, among players of ${scope === 'team' ? 'each team' : 'team'} ${team}`
  return scope === 'team' ? ', among players of a team' : ''
}

export const teamOf = (team: string | undefined) => (team === undefined ? 'each team' : `team ${team}`)
