import type { z } from 'zod'
import type { Clock } from '../time.js'
import { type Fault, validate, type Validated } from '../validation/index.js'
import { deepFreeze } from './cache.js'
import type { EventSink } from './call-events.js'
import { type MusterError, UnexpectedResponse } from './errors.js'
import { headerOf, refusal, withoutSecretsOf } from './refusal.js'
import { factsOf, type Request } from './request.js'
import type { Answer } from './transport.js'

/** Reads JSON: returns the value, or what is wrong with it. */
export type Reader = (json: unknown) => Validated<unknown>

const readers = new WeakMap<z.ZodType, Reader>()

/**
 * Creates a reader of JSON for a schema of the description. These schemas are lenient: an optional field of a type
 * other than documented reads as absent, for which zod builds a new value. But nearly every answer is as documented, so
 * the parsed JSON already is the result. Plain functions check that first, in a fraction of the time, without building
 * anything; zod reads all other answers.
 */
export function readerOf(schema: z.ZodType): Reader {
  const known = readers.get(schema)
  if (known !== undefined) return known
  const fits = exactly(schema)
  const reader: Reader = (json) => (fits(json) ? { success: true, data: json } : validate(schema, json))
  readers.set(schema, reader)
  return reader
}

/** Whether the schema returns a JSON value unchanged. False if that is not known. */
type Check = (value: unknown) => boolean

export function exactly(schema: z.core.$ZodType): Check {
  const { def } = (schema as z.core.$ZodTypes)._zod
  if (isMoreThanItsType(def)) return ofLength(def) ?? unchangedBy(schema)
  switch (def.type) {
    case 'catch': // leniency concerns only values that do not fit
      return exactly(def.innerType)
    case 'optional': {
      const inner = exactly(def.innerType)
      return orNothing.get(inner) ?? ((value) => value === undefined || inner(value))
    }
    case 'nullable': {
      const inner = exactly(def.innerType)
      return orNull.get(inner) ?? ((value) => value === null || inner(value))
    }
    case 'object':
      switch (def.catchall?._zod.def.type) {
        case 'unknown':
          return exactlyFields(def.shape)
        case 'never':
          return onlyFields(def.shape)
        default: // drops unknown fields, or checks them
          return unchangedBy(schema)
      }
    case 'array': {
      const element = exactly(def.element)
      return (value) => Array.isArray(value) && value.every(element)
    }
    case 'record': {
      if (exactly(def.keyType) !== isString) return unchangedBy(schema)
      const entry = exactly(def.valueType)
      return (value) => isObject(value) && everyEntry(value, entry)
    }
    case 'union': {
      const options = def.options.map(exactly)
      return (value) => {
        for (const option of options) if (option(value)) return true
        return false
      }
    }
    case 'unknown':
      return () => true
    case 'string':
      return isString
    case 'boolean':
      return isBoolean
    case 'number':
      // JSON has no infinite numbers, but JSON.parse reads 1e999 as Infinity, which zod refuses.
      return 'format' in def ? Number.isSafeInteger : Number.isFinite
    default:
      return unchangedBy(schema)
  }
}

/** By `for … in`, because `Object.keys` would make a list of each object. */
function everyEntry(record: Readonly<Record<string, unknown>>, entry: Check): boolean {
  for (const key in record) if (key === '__proto__' || !entry(record[key])) return false
  return true
}

function exactlyFields(shape: Readonly<Record<string, z.core.$ZodType>>): Check {
  const fields = Object.entries(shape).map(([key, field]) => [key, exactly(field)] as const)
  return (value) => {
    // zod drops a field of this name, which could change the prototype of an object into which it is copied.
    if (!isObject(value) || Object.hasOwn(value, '__proto__')) return false
    for (const [key, field] of fields) if (!field(value[key])) return false
    return true
  }
}

/** For strict objects, which refuse unknown fields. */
function onlyFields(shape: Readonly<Record<string, z.core.$ZodType>>): Check {
  const fit = exactlyFields(shape)
  const known = new Set(Object.keys(shape))
  return (value) => {
    if (!fit(value)) return false
    for (const key in value as object) if (!known.has(key)) return false
    return true
  }
}

/** For texts of which only the length is checked besides the type; otherwise undefined. */
function ofLength(def: z.core.$ZodTypes['_zod']['def']): Check | undefined {
  if (def.type !== 'string' || 'format' in def || 'coerce' in def) return undefined
  let least = 0
  let most = Number.POSITIVE_INFINITY
  for (const { _zod } of def.checks ?? []) {
    const check = _zod.def as z.core.$ZodChecks['_zod']['def']
    if (check.check === 'min_length') least = Math.max(least, check.minimum)
    else if (check.check === 'max_length') most = Math.min(most, check.maximum)
    else return undefined
  }
  return (value) => typeof value === 'string' && value.length >= least && value.length <= most
}

const isString: Check = (value) => typeof value === 'string'
const isBoolean: Check = (value) => typeof value === 'boolean'
const isStringOrNull: Check = (value) => typeof value === 'string' || value === null
const isBooleanOrNull: Check = (value) => typeof value === 'boolean' || value === null
const isStringOrNothing: Check = (value) => typeof value === 'string' || value === null || value === undefined
const isBooleanOrNothing: Check = (value) => typeof value === 'boolean' || value === null || value === undefined

// Most fields have these types. One shared function for each is fastest to call.
const orNull = new Map([
  [isString, isStringOrNull],
  [isBoolean, isBooleanOrNull],
])
const orNothing = new Map([
  [isStringOrNull, isStringOrNothing],
  [isBooleanOrNull, isBooleanOrNothing],
])

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Lets zod decide. The answer is no for values that zod builds anew, such as objects. */
function unchangedBy(schema: z.core.$ZodType): Check {
  return (value) => {
    const result = (schema as z.ZodType).safeParse(value)
    return result.success && Object.is(result.data, value)
  }
}

/** Whether a schema does more than check a type: limits, formats, conversions. */
function isMoreThanItsType(def: {
  readonly checks?: readonly unknown[]
  readonly format?: unknown
  readonly coerce?: boolean
}): boolean {
  return (def.checks?.length ?? 0) > 0 || def.coerce === true || (def.format !== undefined && def.format !== 'safeint')
}

/** An answer without the list entries that cannot be read. */
interface ReadableEntries {
  readonly json: Readonly<Record<string, unknown>>
  /** The entries left out and why, e.g. `data.3.request_id`: `is missing`. */
  readonly leftOut: readonly Pick<Fault, 'field' | 'wrong'>[]
}

/**
 * The readable part of an answer that does not fit its schema: one list entry that lacks a required field, such as an
 * id, must not hide all others. Undefined if anything else is wrong, or if no entry of a list can be read.
 */
function readableEntries(output: z.ZodType, json: unknown): ReadableEntries | undefined {
  const { def } = (output as unknown as z.core.$ZodTypes)._zod
  if (def.type !== 'object' || typeof json !== 'object' || json === null) return undefined
  const kept: Record<string, unknown> = { ...json }
  const leftOut: Pick<Fault, 'field' | 'wrong'>[] = []
  for (const [key, field] of Object.entries(def.shape)) {
    const list = kept[key]
    const { def: wanted } = (field as z.core.$ZodTypes)._zod
    if (wanted.type !== 'array' || !Array.isArray(list)) continue
    const faults = list.map((entry) => validate(wanted.element as z.ZodType, entry).fault)
    const readable = list.filter((_, index) => faults[index] === undefined)
    if (readable.length === 0) continue
    kept[key] = readable
    faults.forEach((fault, index) => {
      if (fault !== undefined) leftOut.push({ field: [key, index, ...fault.path].join('.'), wrong: fault.wrong })
    })
  }
  return leftOut.length === 0 ? undefined : { json: kept, leftOut }
}

/** The parts of a request that are needed to read its answer. */
type Asked = Pick<Request, 'id' | 'call' | 'input' | 'operation' | 'progress'>

/**
 * The last hop: reads the value of an answer.
 * @throws {MusterError} of the class that belongs to the status.
 */
export function decode(request: Asked, answer: Answer, clock: Clock, events: EventSink): unknown {
  if (answer.status >= 200 && answer.status < 300) return contentOf(request, answer, events)
  throw refusal(request, answer, clock.now())
}

/**
 * The result of a DELETE whose first attempt succeeded although its answer was lost, so that the second attempt found
 * nothing to delete. The error's message becomes the message of a success.
 */
export function decodeGone({ operation }: Pick<Request, 'operation'>, told: MusterError): unknown {
  const result = operation.output?.safeParse({ message: told.message })
  return result?.success ? deepFreeze(result.data) : undefined
}

/**
 * The value of a success answer; any 2xx counts. Unknown fields are kept. A wrong content type is ignored if the body
 * is JSON, as is a body where none is documented. List entries that cannot be read are left out and reported. The value
 * is frozen, because equal reads share it and some answers are cached.
 * @throws {UnexpectedResponse} for a body that is empty, is not JSON, or lacks a field that the code requires.
 */
function contentOf(request: Asked, answer: Answer, events: EventSink): unknown {
  const { output, success } = request.operation
  if (output === undefined) return undefined
  const unexpected = (what: string, field?: string): MusterError =>
    new UnexpectedResponse(`${request.id}: ${what} (status ${answer.status})`, {
      ...factsOf(request),
      status: answer.status,
      field,
    })

  // Some operations are documented as possibly without content, e.g. the revocation of a relay user.
  if (answer.body === '' && success.includes(204)) return undefined
  if (answer.body === '') throw unexpected('the answer is empty')
  const json = parse(answer.body)
  if (json === undefined) {
    const type = withoutSecretsOf(request, headerOf(answer, 'content-type') ?? 'not given')
    throw unexpected(`the answer is not JSON (${answer.bytes} bytes, content type ${type})`)
  }
  const read = readerOf(output)
  const result = read(json.value)
  if (result.success) return deepFreeze(result.data)
  const readable = readableEntries(output, json.value)
  const rest = readable && read(readable.json)
  if (rest?.success) {
    tellLeftOut(request, readable?.leftOut ?? [], events)
    return deepFreeze(rest.data)
  }
  const { field, wrong } = result.fault
  throw unexpected(
    `the answer's ${field === undefined ? 'body' : `field ${field}`} is not as described: it ${wrong}`,
    field,
  )
}

/**
 * Emits an event for each entry left out, or a process warning if there is no listener: the entry may be a server that
 * costs money.
 */
function tellLeftOut(request: Asked, leftOut: ReadableEntries['leftOut'], events: EventSink): void {
  const { attempt } = request.progress
  if (!events.listens('unreadable')) {
    const [first] = leftOut
    const others = leftOut.length > 1 ? `, and ${leftOut.length - 1} more` : ''
    process.emitWarning(
      `${request.id}: left out of the answer: ${first?.field} ${first?.wrong}${others}`,
      'MusterWarning',
    )
  }
  for (const { field, wrong } of leftOut)
    events.emit('unreadable', { ...factsOf(request), attempt, field: field ?? '', wrong })
}

/** JSON.parse's own error is not used, because it quotes the text, which may hold a secret. */
function parse(text: string): { readonly value: unknown } | undefined {
  try {
    // A byte order mark is no part of JSON, but some servers send one.
    return { value: JSON.parse(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text) }
  } catch {
    return undefined
  }
}
