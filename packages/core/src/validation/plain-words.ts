// pure: what is wrong with a value, in plain words
import type { z } from 'zod'

type Issue = z.core.$ZodIssue

/** Most values of an enumeration that a message names. */
const MOST_VALUES = 12

/** Describes an issue in place of zod's sentence, e.g. `must be a whole number`. Never shows the value. */
export function plainWords(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${typeWords(issue.expected)}`
    case 'too_small':
      return sizeWords(
        issue.origin,
        issue.minimum,
        issue.exact === true ? 'exactly' : issue.inclusive === false ? 'more than' : 'at least',
      )
    case 'too_big':
      return sizeWords(
        issue.origin,
        issue.maximum,
        issue.exact === true ? 'exactly' : issue.inclusive === false ? 'less than' : 'at most',
      )
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
      return 'is not as described'
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
  datetime: 'a time as ISO 8601 writes it',
  date: 'a date as ISO 8601 writes it',
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

/** `'casual' or 'ranked'`: as they would be written in code. */
function oneOf(values: readonly unknown[]): string {
  const shown = values
    .slice(0, MOST_VALUES)
    .map((value) => (typeof value === 'string' ? JSON.stringify(value) : String(value)))
  if (values.length > MOST_VALUES) return `one of ${shown.join(', ')} and ${values.length - MOST_VALUES} others`
  return alternatives(shown)
}

const alternatives = (words: readonly string[]) =>
  words.length < 2 ? (words[0] ?? 'one of none') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`

/** All types that a value may have, for a union whose branches say no more. */
function unionWords(issue: z.core.$ZodIssueInvalidUnion): string {
  if (issue.discriminator !== undefined && 'options' in issue && issue.options !== undefined)
    return `must be ${oneOf(issue.options)}`
  const firsts = issue.errors.map(([first]) => first)
  if (firsts.length === 0 || !firsts.every((first) => first?.path.length === 0))
    return 'fits none of the forms it may have'
  const words = (firsts as Issue[]).map((first) => (first.message === '' ? plainWords(first) : first.message))
  const may = words.map((word) => /^must be (.+)$/.exec(word)?.[1])
  return may.every((word) => word !== undefined)
    ? `must be ${alternatives([...new Set((may as string[]).flatMap((word) => word.split(' or ')))])}`
    : words.join(', or ')
}

function keyWords(issue: Issue | undefined): string {
  if (issue === undefined) return 'is not a name that may stand here'
  return `is a name that ${issue.message === '' ? plainWords(issue) : issue.message}`
}
