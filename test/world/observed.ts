import { readFileSync } from 'node:fs'
import fc from 'fast-check'

/**
 * Observations of a public deployment of the interface (public facts) that differ from the specification or add to it:
 * data for tests of the client, the emulator and fakes of the service.
 */

/** The shape of a value in JSON. */
export type Shape = (
  | { readonly kind: 'text'; readonly min: number; readonly max: number }
  | { readonly kind: 'int' | 'num'; readonly min: number; readonly max: number }
  | { readonly kind: 'bool' | 'any' }
  | { readonly kind: 'one-of'; readonly values: readonly string[] }
  | { readonly kind: 'list'; readonly of: Shape }
  | { readonly kind: 'by-name'; readonly of: Shape }
  | { readonly kind: 'object'; readonly fields: Readonly<Record<string, Field>> }
) & { readonly nullable: boolean }

interface Field {
  readonly isRequired: boolean
  readonly shape: Shape
}

export interface ObservedOperation {
  readonly method: string
  readonly path: string
  /** Query parameters. */
  readonly query: readonly string[]
  /** Shape of the request's body; undefined if it has none. */
  readonly takes: Shape | undefined
  /** The successful responses, each with its status and the shape of its body; undefined for no body. */
  readonly gives: readonly { readonly status: number; readonly body: Shape | undefined }[]
  readonly errors: readonly number[]
}

/** Parses a shape in the notation of `observed-shapes.txt`. @throws {SyntaxError} */
export function readShape(text: string): Shape {
  let at = 0
  const fault = (what: string) => new SyntaxError(`${what} at ${at} of ${text}`)
  const take = (pattern: RegExp): RegExpExecArray | undefined => {
    const found = new RegExp(pattern.source, 'y')
    found.lastIndex = at
    const match = found.exec(text) ?? undefined
    at += match?.[0].length ?? 0
    return match
  }
  const need = (pattern: RegExp) => {
    const match = take(pattern)
    if (match === undefined) throw fault(`no ${pattern.source}`)
    return match
  }
  const bounds = (pattern: RegExp) => {
    const [, min, max] = take(pattern) ?? []
    return { min: min ? Number(min) : -Infinity, max: max ? Number(max) : Infinity }
  }
  const nullable = () => ({ nullable: take(/\?/) !== undefined })
  const shape = (): Shape => {
    if (take(/\[/)) {
      const of = shape()
      need(/\]/)
      return { kind: 'list', of, ...nullable() }
    }
    if (take(/\{/)) return fields()
    const [word = ''] = need(/\w+(\|\w+)*/)
    if (word === 'text') return { kind: 'text', ...bounds(/\((\d+)–(\d+)\)/), ...nullable() }
    if (word === 'int' || word === 'num') return { kind: word, ...bounds(/\[(-?\d+)–(\d*)\]/), ...nullable() }
    if (word === 'bool' || word === 'any') return { kind: word, ...nullable() }
    if (word.includes('|')) return { kind: 'one-of', values: word.split('|'), ...nullable() }
    throw fault(`unknown ${word}`)
  }
  const fields = (): Shape => {
    if (take(/NAME:/)) {
      const of = shape()
      need(/\}/)
      return { kind: 'by-name', of, ...nullable() }
    }
    const found: Record<string, Field> = {}
    while (!take(/\}/)) {
      const [, name = '', star] = need(/(\w+)(\*?):/)
      found[name] = { isRequired: star === '*', shape: shape() }
      take(/, /)
    }
    return { kind: 'object', fields: found, ...nullable() }
  }
  const whole = shape()
  if (at < text.length) throw fault('more')
  return whole
}

function readOperation(block: string): ObservedOperation {
  const [head = '', ...lines] = block.split('\n')
  const [, method = '', path = '', query = ''] = /^(\w+) (\S+) ?\??(.*)$/.exec(head) ?? []
  const line = (word: string) => lines.find((one) => one.startsWith(`  ${word} `))?.slice(word.length + 3)
  const takes = line('takes')
  const [answers = '', errors = ''] = (line('gives') ?? '').split(' ; errors ')
  return {
    method,
    path,
    query: query === '' ? [] : query.split(', '),
    takes: takes === undefined ? undefined : readShape(takes),
    gives: answers.split('; ').map((answer) => {
      const body = answer.slice(4)
      return { status: Number(answer.slice(0, 3)), body: body === 'no body' ? undefined : readShape(body) }
    }),
    errors: errors.split(', ').map(Number),
  }
}

/** All observed operations, in the order of the description. */
export const observedOperations: readonly ObservedOperation[] = readFileSync(
  new URL('observed-shapes.txt', import.meta.url),
  'utf8',
)
  .split(/\n(?=[A-Z]+ \/)/)
  .slice(1)
  .map((block) => readOperation(block.trimEnd()))

/**
 * The operations of the specification whose path differs in the observed service. That service no longer describes
 * fleets and policies, so these are missing.
 */
export const OBSERVED_PATHS: Readonly<Record<string, string>> = { 'POST /deployments': 'POST /v2/deployments' }

/** Generates values of a shape. `any` becomes null, because its values are not described. */
export function ofShape(shape: Shape): fc.Arbitrary<unknown> {
  const value = present(shape)
  return shape.nullable ? fc.option(value, { nil: null, freq: 4 }) : value
}

function present(shape: Shape): fc.Arbitrary<unknown> {
  switch (shape.kind) {
    case 'text': {
      const minLength = Math.max(0, shape.min)
      return fc.string({ unit: 'binary', minLength, maxLength: Math.min(shape.max, minLength + 12) })
    }
    case 'int':
      return fc.integer({ min: Math.max(shape.min, -(2 ** 31)), max: Math.min(shape.max, 2 ** 32) })
    case 'num':
      return fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => (Object.is(value, -0) ? 0 : value))
    case 'bool':
      return fc.boolean()
    case 'any':
      return fc.constant(null)
    case 'one-of':
      return fc.constantFrom(...shape.values)
    case 'list':
      return fc.array(ofShape(shape.of), { maxLength: 3 })
    case 'by-name':
      return fc.dictionary(fc.string({ minLength: 1 }), ofShape(shape.of), { maxKeys: 3, noNullPrototype: true })
    case 'object': {
      const entries = Object.entries(shape.fields)
      // Ids are never empty, because nothing could be addressed by an empty id.
      const valueOf = (name: string, { shape: inner }: Field) =>
        ofShape(name.endsWith('_id') && inner.kind === 'text' ? { ...inner, min: 1 } : inner)
      return fc.record(Object.fromEntries(entries.map(([name, field]) => [name, valueOf(name, field)])), {
        requiredKeys: entries.filter(([, { isRequired }]) => isRequired).map(([name]) => name),
        noNullPrototype: true,
      })
    }
  }
}

/**
 * Returns the path of the first part that does not fit the shape, e.g. `ports.0.port`; undefined if all fit. Additional
 * fields are allowed.
 */
export function faultIn(value: unknown, shape: Shape, at = ''): string | undefined {
  const below = (key: string | number) => (at === '' ? String(key) : `${at}.${key}`)
  if (value === null) return shape.nullable || shape.kind === 'any' ? undefined : at
  const within = (amount: number, { min, max }: { readonly min: number; readonly max: number }) =>
    amount >= min && amount <= max
  const first = (faults: Iterable<string | undefined>) => [...faults].find((fault) => fault !== undefined)
  switch (shape.kind) {
    case 'text':
      return typeof value === 'string' && within(value.length, shape) ? undefined : at
    case 'int':
      return Number.isInteger(value) && within(value as number, shape) ? undefined : at
    case 'num':
      return typeof value === 'number' ? undefined : at
    case 'bool':
      return typeof value === 'boolean' ? undefined : at
    case 'any':
      return undefined
    case 'one-of':
      return shape.values.includes(value as string) ? undefined : at
    case 'list':
      return Array.isArray(value) ? first(value.map((one, index) => faultIn(one, shape.of, below(index)))) : at
    case 'by-name':
      return typeof value === 'object'
        ? first(Object.entries(value).map(([key, one]) => faultIn(one, shape.of, below(key))))
        : at
    case 'object': {
      if (typeof value !== 'object') return at
      const fields = value as Readonly<Record<string, unknown>>
      return first(
        Object.entries(shape.fields).map(([key, { isRequired, shape: inner }]) => {
          if (fields[key] === undefined) return isRequired ? below(key) : undefined
          return faultIn(fields[key], inner, below(key))
        }),
      )
    }
  }
}
