import type { z } from 'zod'
import { validate, type Validated } from '../validation/validate.js'

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
export type Check = (value: unknown) => boolean

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
