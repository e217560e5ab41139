import type { Json } from './described.js'

interface Row {
  readonly name: string
  readonly value: string
  readonly text: string
}

/**
 * Returns the fields of the configuration as tables: one for each section, one for queues, and one for each kind of
 * rule.
 */
export function tablesOf(document: Json): string {
  const sections = Object.entries(document['properties'] as Readonly<Record<string, Json>>)
  const single = sections.filter(([, section]) => fieldsOf(section) === undefined)
  const several = sections.filter(([, section]) => fieldsOf(section) !== undefined)
  const { rule } = document['$defs'] as { readonly rule: { readonly oneOf: readonly Json[] } }
  return [
    table(single.map(([name, field]) => rowOf(name, field))),
    ...several.map(([name, section]) => titled(`### ${name}`, section)),
    '### The rules of a queue',
    ABOUT_RULES,
    table(commonRows(rule.oneOf[0] as Json)),
    ...rule.oneOf.map((kind) => ofRule(kind)),
  ].join('\n\n')
}

const ABOUT_RULES =
  'Each has a `kind`, and may have `name`, `by`, `optionalAfterMs` and `hard`; see [rules](rules.md). A limit that ' +
  'may relax is a number; steps, `[{ afterMs: 0, value: 500 }, { afterMs: 10000, value: .inf }]`; a line, ' +
  '`{ from, to, startMs, overMs }`; or, in a queue with `targetWaitMs`, bounds, `{ strictest: 50, loosest: 800 }`.'

const COMMON = ['name', 'by', 'optionalAfterMs', 'hard']

const commonRows = (kind: Json) => rowsOf(kind).filter(({ name }) => COMMON.includes(name))

function ofRule(kind: Json): string {
  const name = String((kind['properties'] as { readonly kind: Json }).kind['const'])
  const own = rowsOf(kind).filter((row) => row.name !== 'kind' && !COMMON.includes(row.name))
  const head = [`#### ${name}`, String(kind['description'] ?? '')].filter((line) => line !== '')
  return [...head, ...(own.length === 0 ? [] : [table(own)])].join('\n\n')
}

const titled = (title: string, section: Json): string =>
  [title, String(section['description'] ?? ''), table(rowsOf(section))].filter((part) => part !== '').join('\n\n')

const table = (rows: readonly Row[]): string =>
  [
    '| field | value | |',
    '|---|---|---|',
    ...rows.map(({ name, value, text }) => `| \`${name}\` | ${value} | ${text} |`),
  ].join('\n')

/** Returns the fields of an object, of a list's entries, or of all alternatives. */
function fieldsOf(schema: Json): Readonly<Record<string, Json>> | undefined {
  if ('properties' in schema) return schema['properties'] as Readonly<Record<string, Json>>
  if ('items' in schema) return fieldsOf(schema['items'] as Json)
  const all = alternativesOf(schema).flatMap((one) => Object.entries(fieldsOf(one) ?? {}))
  return all.length === 0 ? undefined : Object.fromEntries(all.map(([name]) => [name, eitherOf(all, name)]))
}

/** Returns a field of all alternatives. If its value tells them apart, as `kind` does, it has each of these values. */
function eitherOf(all: readonly (readonly [string, Json])[], name: string): Json {
  const fields = all.filter((field) => field[0] === name).map(([, field]) => field)
  const last = fields.at(-1) ?? {}
  if (fields.length < 2 || !fields.every((field) => 'const' in field)) return last
  return { description: last['description'], enum: fields.map((field) => field['const']) }
}

const alternativesOf = (schema: Json): readonly Json[] => {
  const of = (schema['anyOf'] ?? schema['oneOf'] ?? []) as readonly Json[]
  return of.filter((one) => !('required' in one && Object.keys(one).length === 1))
}

const isLimit = (schema: Json) => {
  const fields = fieldsOf(schema) ?? {}
  return 'overMs' in fields && 'afterMs' in fields
}

const isSecret = (schema: Json) => Object.keys(fieldsOf(schema) ?? {}).join() === 'env,file'

function rowsOf(schema: Json, prefix = ''): Row[] {
  return Object.entries(fieldsOf(schema) ?? {}).flatMap(([name, field]) => {
    const inner = isLimit(field) || isSecret(field) || name === 'rules' ? [] : rowsOf(field, `${prefix}${name}.`)
    return [rowOf(prefix + name, field), ...inner]
  })
}

function rowOf(name: string, field: Json): Row {
  const { default: usual, description = '' } = field
  const isShown = usual !== undefined && (typeof usual !== 'object' || Object.keys(usual as object).length > 0)
  const text = String(description).replaceAll('|', '\\|')
  const value = `${typeOf(field)}${isShown ? `, default \`${JSON.stringify(usual)}\`` : ''}`
  return { name, value, text }
}

function typeOf(schema: Json): string {
  if ('const' in schema) return `\`${String(schema['const'])}\``
  if (Array.isArray(schema['enum'])) return schema['enum'].map((one) => `\`${String(one)}\``).join(', ')
  if (isLimit(schema)) return 'a limit'
  if ('properties' in schema && isSecret(schema)) return 'a secret: `{ env }` or `{ file }`'
  if ('$ref' in schema || 'allOf' in schema) return 'a rule'
  const any = alternativesOf(schema)
  if (any.length > 0 && !('type' in schema)) return [...new Set(any.map(typeOf))].join(' or ')
  switch (schema['type']) {
    case 'array':
      return 'items' in schema ? listOf(typeOf(schema['items'] as Json)) : 'a list'
    case 'object':
      return 'names and values'
    case 'integer':
      return `a whole number${boundsOf(schema)}`
    case 'number':
      return `a number${boundsOf(schema)}`
    case 'boolean':
      return 'true or false'
    default:
      return 'a text'
  }
}

/** Returns the type of a list by the type of its entries. */
function listOf(entry: string): string {
  if (entry === 'a text') return 'a list of texts'
  if (entry === 'a rule') return 'a list of rules'
  if (entry === 'names and values') return 'a list of entries, each with names and values'
  return `a list of any of ${entry}`
}

const HUGE = 2 ** 31 - 2

function boundsOf({ minimum, exclusiveMinimum, maximum }: Json): string {
  const least = minimum === undefined ? '' : ` from ${digits(minimum)}`
  const above = exclusiveMinimum === undefined ? '' : ` above ${digits(exclusiveMinimum)}`
  return `${least}${above}${maximum === undefined || Number(maximum) > HUGE ? '' : ` to ${digits(maximum)}`}`
}

const digits = (value: unknown) =>
  Math.abs(Number(value)) >= Number.MAX_SAFE_INTEGER ? 'any' : Number(value).toLocaleString('en-US')
