import type { z } from 'zod'
import { scrub } from '../redact.js'
import { didYouMean, nearestName } from './nearest-name.js'
import { plainWords } from './plain-words.js'
import { gotWords } from './shown.js'

/** What is wrong with a value: the first fault, or the fault that explains others. */
export interface Fault {
  /** Names and indices on the way to the part at fault. */
  readonly path: readonly string[]
  /** The path as one text, e.g. `queues.0.matchSize`; undefined for the value as a whole. */
  readonly field: string | undefined
  /** What is wrong, without the value: `must be at least 1; did you mean …?`. For readers who must not see values. */
  readonly wrong: string
  /** What is wrong, with the value unless it may be a secret, an address or a URL: `must be at least 1, got 0`. */
  readonly message: string
}

/** The value as parsed by its schema, or what is wrong with it. */
export type Validated<T> =
  | { readonly success: true; readonly data: T; readonly fault?: undefined }
  | { readonly success: false; readonly data?: undefined; readonly fault: Fault }

/** The value as parsed by its schema, or all that is wrong with it. */
export type ValidatedWhole<T> =
  | { readonly success: true; readonly data: T; readonly faults?: undefined }
  | { readonly success: false; readonly data?: undefined; readonly faults: readonly Fault[] }

/**
 * Checks a value by a schema. Faults are told in plain words, with the nearest known name for one that is misspelt, and
 * never with a value that may be a secret. The schema's own messages are kept; zod's are not used.
 */
export function validate<T>(schema: z.ZodType<T>, value: unknown): Validated<T> {
  const result = schema.safeParse(value, ownWords)
  return result.success ? result : { success: false, fault: faultOf(value, result.error.issues) }
}

/** Checks a value like `validate`, and tells all that is wrong with it, in the order of the schema. */
export function validateAll<T>(schema: z.ZodType<T>, value: unknown): ValidatedWhole<T> {
  const result = schema.safeParse(value, ownWords)
  return result.success ? result : { success: false, faults: faultsOf(value, result.error.issues) }
}

type Issue = z.core.$ZodIssue

/** The names that an object knows, by the list of those that it does not: an issue holds only the latter. */
const knownNames = new WeakMap<readonly string[], readonly string[]>()

/**
 * Asked for the message of each issue whose schema has none of its own: an empty one is put into words later, if at
 * all.
 */
const ownWords: z.core.ParseContext<z.core.$ZodIssue> = {
  error: (issue) => {
    const def = (issue.inst as z.core.$ZodTypes | undefined)?._zod.def
    if (issue.code === 'unrecognized_keys' && def !== undefined && 'shape' in def)
      knownNames.set(issue.keys, Object.keys(def.shape))
    return ''
  },
}

/** One fault for each place. What follows from a misspelt name alone is no fault of its own. */
function faultsOf(value: unknown, issues: readonly Issue[]): Fault[] {
  const faults = issues.flatMap((issue) => {
    if (issue.code !== 'unrecognized_keys')
      return followsFromMisspelt(issue, value, issues) ? [] : [faultOf(value, [issue])]
    const known = knownNames.get(issue.keys) ?? []
    return issue.keys.map((key) => {
      const keys = [key]
      knownNames.set(keys, known)
      return faultOf(value, [{ ...issue, keys }])
    })
  })
  return [...new Map(faults.toReversed().map((one) => [JSON.stringify(one.path), one])).values()].toReversed()
}

/**
 * Whether a name is missing that is only misspelt, or an object lacks what its schema wants of the whole, e.g. one of
 * two names, and has a misspelt name.
 */
function followsFromMisspelt(issue: Issue, value: unknown, issues: readonly Issue[]): boolean {
  const isMissing = at(value, issue.path) === undefined
  if (isMissing && misspeltOf(issue, issues) !== undefined) return true
  const object = (isMissing ? issue.path.slice(0, -1) : issue.path).join('.')
  return issue.code === 'custom' && issues.some((one) => one.path.join('.') === object && hasMisspelt(one, value))
}

/** Whether the issue is about unknown names of which one is near to a known name that is not there. */
function hasMisspelt(issue: Issue, value: unknown): boolean {
  if (issue.code !== 'unrecognized_keys') return false
  const known = knownNames.get(issue.keys) ?? []
  const absent = known.filter((name) => at(value, [...issue.path, name]) === undefined)
  return issue.keys.some((key) => nearestName(key, absent) !== undefined)
}

function faultOf(value: unknown, issues: readonly Issue[]): Fault {
  const issue = mostTelling(issues)
  if (issue === undefined) return fault([], 'is not as described', '', '')
  if (issue.code === 'unrecognized_keys') {
    const [key = ''] = issue.keys
    return fault([...issue.path, key], 'is not known', '', didYouMean(key, knownNames.get(issue.keys) ?? []))
  }
  const given = at(value, issue.path)
  const isAuthored = issue.message !== ''
  if (given === undefined && issue.path.length > 0 && !isAuthored) return fault(issue.path, 'is missing', '', '')
  const isOfType = issue.code !== 'invalid_type' && issue.code !== 'invalid_union'
  const wrong = isAuthored ? issue.message : plainWords(issue)
  return fault(
    issue.path,
    wrong,
    gotWords(issue.path.map(String), given, (isOfType && !WANTS_NO_TEXT.test(wrong)) || isChoice(issue)),
    hint(issue, given),
  )
}

function fault(place: readonly PropertyKey[], wrong: string, got: string, meant: string): Fault {
  const path = place.map((key) => shortened(String(key)))
  const field = path.length === 0 ? undefined : scrub(path.join('.'))
  return { path, field, wrong: `${scrub(wrong)}${meant}`, message: `${scrub(wrong)}${got}${meant}` }
}

/** A text where another type is needed may be anything, e.g. a token given as the wrong option, so it is not shown. */
const WANTS_NO_TEXT =
  /^must (?:have (?!.* characters?$)|be an? (?:whole )?(?:function|number|object|list)\b(?! and| of))/

/** A name from outside may have any length. */
const shortened = (key: string) => (key.length > 80 ? `${key.slice(0, 80)}…` : key)

const at = (value: unknown, path: readonly PropertyKey[]) =>
  path.reduce<unknown>((part, key) => (part as Readonly<Record<PropertyKey, unknown>> | null | undefined)?.[key], value)

/** Whether one of a few values is needed. */
const isChoice = (issue: Issue) => issue.code === 'invalid_union' && 'options' in issue && issue.options !== undefined

function hint(issue: Issue, given: unknown): string {
  if (typeof given !== 'string') return ''
  const values =
    issue.code === 'invalid_value' ? issue.values : isChoice(issue) && 'options' in issue ? (issue.options ?? []) : []
  return didYouMean(
    given,
    values.filter((one) => typeof one === 'string'),
  )
}

/** If a name is missing and an unknown one is present, the unknown one is probably the misspelt missing one. */
function mostTelling(issues: readonly Issue[]): Issue | undefined {
  const first = deepest(issues[0])
  const misspelt = first && misspeltOf(first, issues)
  if (misspelt === undefined) return first
  const missing = String(first?.path.at(-1))
  const keys = [...misspelt.keys].toSorted((a) => (nearestName(a, [missing]) === undefined ? 1 : -1))
  knownNames.set(keys, [missing])
  return { ...misspelt, keys }
}

/** The issue about unknown names beside a missing one, of which one is near to it. */
function misspeltOf(first: Issue, issues: readonly Issue[]): z.core.$ZodIssueUnrecognizedKeys | undefined {
  const missing = first.path.at(-1)
  if (first.code === 'unrecognized_keys' || typeof missing !== 'string') return undefined
  const parent = first.path.slice(0, -1).join('.')
  return issues.find(
    (one): one is z.core.$ZodIssueUnrecognizedKeys =>
      one.code === 'unrecognized_keys' &&
      one.path.join('.') === parent &&
      one.keys.some((key) => nearestName(key, [missing]) !== undefined),
  )
}

/** Of a failed union, the branch that came furthest into the value explains most. */
function deepest(issue: Issue | undefined): Issue | undefined {
  if (issue?.code !== 'invalid_union') return issue
  const inner = issue.errors.map((branch) =>
    mostTelling(branch.map((one) => ({ ...one, path: [...issue.path, ...one.path] }))),
  )
  const furthest = inner.reduce<Issue>(
    (best, one) => (one !== undefined && reach(one) > reach(best) ? one : best),
    issue,
  )
  return furthest
}

/** How far an issue lies within the value. */
const reach = (issue: Issue) => issue.path.length + (issue.code === 'unrecognized_keys' ? 1 : 0)
