// pure: comparisons of values, in words
import { PARTY_SIZE, type Comparison } from '../rules/definition.js'
import type { Relaxing } from '../rules/relaxing.js'
import type { Missing } from '../rules/rule-base.js'
import { limitWords } from './limit-words.js'
import { valueWords } from './words.js'

const COMPARED: Readonly<Record<Comparison, string>> = {
  '=': 'exactly',
  '!=': 'anything but',
  '<': 'below',
  '<=': 'at most',
  '>': 'above',
  '>=': 'at least',
}

/** `at least`: what stands between a value and what it is compared with. */
export const comparisonWords = (operator: Comparison): string => COMPARED[operator]

/** `at least 10 at first, 5 after 20 s`. */
export const comparedWith = (operator: Comparison, limit: Relaxing): string =>
  limitWords(limit, { lead: COMPARED[operator], free: 'anything' })

/** An attribute by its name; the size of a party has none that a person would write. */
export const attributeWords = (attribute: string | undefined): string =>
  attribute === PARTY_SIZE ? 'party size' : (attribute ?? '')

/** `; players without skill count as 1,000`, or an empty text where they are refused. */
export function missingWords(attribute: string | undefined, missing: Missing<unknown> | undefined): string {
  if (missing === undefined || missing === 'refuse') return ''
  const who = `; players without ${attributeWords(attribute)}`
  return missing === 'any' ? `${who} are free of it` : `${who} count as ${valueWords(missing.value)}`
}
