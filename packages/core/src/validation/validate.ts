import type { z } from 'zod'
import { isHidden, scrub } from '../redact.js'
import { didYouMean, nearestName } from '../nearest-name.js'

/**
 * Maximum length of a string that is shown. Longer strings are described by their length, because they are documents or
 * keys.
 */
const LONGEST = 40

/** Words in the name of a field that may hold a secret, an address or a webhook's URL. */
const HIDING = new Set(
  (
    'secret secrets token tokens password passwords passphrase code credential credentials authorization cookie ' +
    'private apikey key keys url urls uri webhook webhooks env envs environment variables ip ips address addresses'
  ).split(' '),
)

/** Returns the words of a name, such as `hiddenEnvironment`, `webhook_url` or `IP`. */
const wordsOf = (key: string) =>
  key
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z\d]+/)

/** True if the field of this name may hold a secret, an address or a webhook's URL, which no message may show. */
export const mayHoldSecret = (key: string): boolean => isHidden(key) || wordsOf(key).some((word) => HIDING.has(word))

/**
 * Returns e.g. `, got 70000`, for a message about an invalid value. If the value may be a secret, returns only its
 * kind. A string in the wrong place may be anything, so it is shown only where strings are expected, and only if it is
 * short.
 * @param path the names that lead to the value.
 * @param isOfType true if the value has the expected type, and is invalid for another reason.
 */
function gotWords(path: readonly string[], value: unknown, isOfType: boolean): string {
  if (value === undefined) return ', got nothing'
  if (value === null) return ', got null'
  if (path.some(mayHoldSecret)) return isOfType ? '' : `, got ${kindOf(value)}`
  if (typeof value === 'number' || typeof value === 'boolean') return `, got ${value}`
  if (typeof value !== 'string' || !isOfType) return `, got ${kindOf(value)}`
  // A string is not shown if it names a host or may hold credentials.
  if (/:\/\/|@|\?/.test(value) || value.length > LONGEST) return `, got a text of ${value.length} characters`
  return `, got ${JSON.stringify(scrub(value))}`
}

const kindOf = (value: unknown): string =>
  Array.isArray(value) ? 'a list' : (TYPES[typeof value] ?? `a ${typeof value}`)

type Issue = z.core.$ZodIssue

/** Maximum number of values of an enumeration that a message names. */
const MOST_VALUES = 12

/**
 * Describes an issue in plain words that replace zod's sentence, e.g. `must be a whole number`. Never shows the value.
 */
function plainWords(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${typeWords(issue.expected)}`
    case 'too_small':
    case 'too_big': {
      const isSmall = issue.code === 'too_small'
      const [strictly, atMost] = isSmall ? ['more than', 'at least'] : ['less than', 'at most']
      const how = issue.exact === true ? 'exactly' : issue.inclusive === false ? strictly : atMost
      return sizeWords(issue.origin, isSmall ? issue.minimum : issue.maximum, how)
    }
    case 'invalid_format':
      return formatWords(issue)
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}`
    case 'invalid_value':
      return `must be ${oneOf(issue.values)}`
    case 'invalid_union':
      return unionWords(issue)
    case 'unrecognized_keys':
      return 'is not known'
    case 'invalid_key':
      return keyWords(issue.issues[0])
    default:
      return 'is invalid'
  }
}

const TYPES: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  tuple: 'a list',
  object: 'an object',
  record: 'an object',
  map: 'a Map',
  set: 'a Set',
  date: 'a Date',
  function: 'a function',
  never: 'left out',
  nonoptional: 'given',
}

const typeWords = (expected: string) => TYPES[expected] ?? `of type ${expected}`

function sizeWords(origin: string, bound: number | bigint, how: string): string {
  if (origin !== 'string' && origin !== 'array' && origin !== 'set' && origin !== 'map') {
    return `must be ${how === 'exactly' ? '' : `${how} `}${bound}`
  }
  if (how === 'at least' && Number(bound) === 1) return 'must not be empty'
  const [one, many] = origin === 'string' ? ['character', 'characters'] : ['entry', 'entries']
  return `must have ${how} ${bound} ${Number(bound) === 1 ? one : many}`
}

const FORMATS: Readonly<Record<string, string>> = {
  url: 'a URL',
  email: 'an e-mail address',
  ipv4: 'an IPv4 address',
  ipv6: 'an IPv6 address',
  datetime: 'a time in ISO 8601 format',
  date: 'a date in ISO 8601 format',
  base64: 'base64',
  uuid: 'a UUID',
  json_string: 'JSON',
}

function formatWords(issue: z.core.$ZodIssueInvalidStringFormat): string {
  const named = FORMATS[issue.format]
  if (named !== undefined) return `must be ${named}`
  if ('prefix' in issue) return `must start with ${JSON.stringify(issue.prefix)}`
  if ('suffix' in issue) return `must end with ${JSON.stringify(issue.suffix)}`
  if ('includes' in issue) return `must contain ${JSON.stringify(issue.includes)}`
  return issue.format === 'regex' ? `must match ${issue.pattern ?? 'the pattern'}` : `must be a valid ${issue.format}`
}

/** Returns e.g. `"casual" or "ranked"`, in code notation. */
function oneOf(values: readonly unknown[]): string {
  const shown = values
    .slice(0, MOST_VALUES)
    .map((value) => (typeof value === 'string' ? JSON.stringify(value) : String(value)))
  if (values.length > MOST_VALUES) return `one of ${shown.join(', ')} and ${values.length - MOST_VALUES} others`
  return alternatives(shown)
}

const alternatives = (words: readonly string[]) =>
  words.length < 2 ? (words[0] ?? 'one of none') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`

/** Returns all types that a value may have. Used for a union whose branches give no better message. */
function unionWords(issue: z.core.$ZodIssueInvalidUnion): string {
  if (issue.discriminator !== undefined && 'options' in issue && issue.options !== undefined)
    return `must be ${oneOf(issue.options)}`
  const firsts = issue.errors.map(([first]) => first)
  if (firsts.length === 0 || !firsts.every((first) => first?.path.length === 0)) return 'has none of the allowed forms'
  const words = (firsts as Issue[]).map((first) => (first.message === '' ? plainWords(first) : first.message))
  const may = words.map((word) => /^must be (.+)$/.exec(word)?.[1])
  return may.every((word) => word !== undefined)
    ? `must be ${alternatives([...new Set((may as string[]).flatMap((word) => word.split(' or ')))])}`
    : words.join(', or ')
}

function keyWords(issue: Issue | undefined): string {
  if (issue === undefined) return 'is a name that is not allowed here'
  return `is a name that ${issue.message === '' ? plainWords(issue) : issue.message}`
}

/** The fault of a value. If there are several, it is the first one, or the one that explains others. */
export interface Fault {
  /** Names and indices that lead to the invalid part. */
  readonly path: readonly string[]
  /** The path as a string, e.g. `queues.0.matchSize`; undefined for the value as a whole. */
  readonly field: string | undefined
  /**
   * The fault without the value, e.g. `must be at least 1; did you mean …?`. It is for readers who must not see values.
   */
  readonly wrong: string
  /** The fault with the value, unless it may be a secret, an address or a URL: `must be at least 1, got 0`. */
  readonly message: string
}

/** The value as parsed by its schema, or its fault. */
export type Validated<T> =
  | { readonly success: true; readonly data: T; readonly fault?: undefined }
  | { readonly success: false; readonly data?: undefined; readonly fault: Fault }

/** The value as parsed by its schema, or all of its faults. */
export type ValidatedWhole<T> =
  | { readonly success: true; readonly data: T; readonly faults?: undefined }
  | { readonly success: false; readonly data?: undefined; readonly faults: readonly Fault[] }

/**
 * Validates a value by a schema. Messages use plain words and suggest the nearest known name for a misspelt name. They
 * never contain a value that may be a secret. The schema's own messages are kept. zod's default messages are not used.
 */
export function validate<T>(schema: z.ZodType<T>, value: unknown): Validated<T> {
  const result = parse(schema, value)
  return result.success ? result : { success: false, fault: faultOf(value, result.error.issues) }
}

/** Validates a value like `validate`, and returns all of its faults in the order of the schema. */
export function validateAll<T>(schema: z.ZodType<T>, value: unknown): ValidatedWhole<T> {
  const result = parse(schema, value)
  return result.success ? result : { success: false, faults: faultsOf(value, result.error.issues) }
}

/**
 * Parses without a ParseContext first, and again with one only if the value is invalid. zod is five times slower with a
 * ParseContext, which holds our error texts.
 */
function parse<T>(schema: z.ZodType<T>, value: unknown) {
  const result = schema.safeParse(value)
  return result.success ? result : schema.safeParse(value, ownWords)
}

/** The known names of an object, by the list of unknown names in its issue. The issue itself has only the latter. */
const knownNames = new WeakMap<readonly string[], readonly string[]>()

/** Gives an empty message to each issue whose schema has none. The message is put into words later, if it is needed. */
const ownWords: z.core.ParseContext<z.core.$ZodIssue> = {
  error: (issue) => {
    const def = (issue.inst as z.core.$ZodTypes | undefined)?._zod.def
    if (issue.code === 'unrecognized_keys' && def !== undefined && 'shape' in def)
      knownNames.set(issue.keys, Object.keys(def.shape))
    return ''
  },
}

/** Returns one fault for each place. Consequences of a misspelt name are not faults of their own. */
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
 * True if the issue is a consequence of a misspelt name. There are two cases: a missing name is only misspelt, or an
 * object with a misspelt name violates a rule of its schema, e.g. that one of two names is required.
 */
function followsFromMisspelt(issue: Issue, value: unknown, issues: readonly Issue[]): boolean {
  const isMissing = at(value, issue.path) === undefined
  if (isMissing && misspeltOf(issue, issues) !== undefined) return true
  const object = (isMissing ? issue.path.slice(0, -1) : issue.path).join('.')
  return issue.code === 'custom' && issues.some((one) => one.path.join('.') === object && hasMisspelt(one, value))
}

/** True if the issue is about unknown names, and one of them is near to a missing known name. */
function hasMisspelt(issue: Issue, value: unknown): boolean {
  if (issue.code !== 'unrecognized_keys') return false
  const known = knownNames.get(issue.keys) ?? []
  const absent = known.filter((name) => at(value, [...issue.path, name]) === undefined)
  return issue.keys.some((key) => nearestName(key, absent) !== undefined)
}

function faultOf(value: unknown, issues: readonly Issue[]): Fault {
  const issue = mostTelling(issues)
  if (issue === undefined) return fault([], 'is invalid', '', '')
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

/**
 * Matches messages that require another type than a string. A string there may be anything, e.g. a token in the wrong
 * option, so it is not shown.
 */
const WANTS_NO_TEXT =
  /^must (?:have (?!.* characters?$)|be an? (?:whole )?(?:function|number|object|list)\b(?! and| of))/

/** Shortens a name from outside, which may have any length. */
const shortened = (key: string) => (key.length > 80 ? `${key.slice(0, 80)}…` : key)

const at = (value: unknown, path: readonly PropertyKey[]) =>
  path.reduce<unknown>((part, key) => (part as Readonly<Record<PropertyKey, unknown>> | null | undefined)?.[key], value)

/** True if one of a few values is required. */
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

/**
 * Returns the issue that explains most. If a name is missing and an unknown name is present, the latter is probably the
 * missing name, misspelt.
 */
function mostTelling(issues: readonly Issue[]): Issue | undefined {
  const first = deepest(issues[0])
  const misspelt = first && misspeltOf(first, issues)
  if (misspelt === undefined) return first
  const missing = String(first?.path.at(-1))
  const keys = [...misspelt.keys].toSorted((a) => (nearestName(a, [missing]) === undefined ? 1 : -1))
  knownNames.set(keys, [missing])
  return { ...misspelt, keys }
}

/** Returns the issue about unknown names, if there is also a missing name that is near to one of them. */
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

/**
 * Returns the issue that explains most. For a failed union, it is that of the branch that got furthest into the value.
 */
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

/** Returns the depth of an issue in the value. */
const reach = (issue: Issue) => issue.path.length + (issue.code === 'unrecognized_keys' ? 1 : 0)
