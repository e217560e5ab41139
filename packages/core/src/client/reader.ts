import { z } from 'zod'

/** Reads JSON: the value, or what is wrong with it. */
export type Reader = (json: unknown) => z.ZodSafeParseResult<unknown>

const readers = new WeakMap<z.ZodType, Reader>()

/**
 * Reads JSON by a schema of the description. Such a schema is lenient: an optional field of another type
 * than documented reads as absent, for which zod builds a new value. But nearly every answer is as
 * documented, and then what JSON.parse made is the result already. So that is found out first, by plain
 * functions that build nothing, in a twentieth of the time; all other answers are zod's.
 */
export function readerOf(schema: z.ZodType): Reader {
  const known = readers.get(schema)
  if (known !== undefined) return known
  const fits = exactly(schema)
  const reader: Reader = (json) => (fits(json) ? { success: true, data: json } : schema.safeParse(json))
  readers.set(schema, reader)
  return reader
}

/** Whether the schema returns a value of JSON as it is. False may also mean that this is not known. */
type Check = (value: unknown) => boolean

function exactly(schema: z.core.$ZodType): Check {
  // Lenience is for values that do not fit.
  if (schema instanceof z.ZodCatch) return exactly(schema.def.innerType)
  if (schema instanceof z.ZodOptional) {
    if (schema.def.innerType instanceof z.ZodNullable) return orNothing(exactly(schema.def.innerType.def.innerType))
    const inner = exactly(schema.def.innerType)
    return (value) => value === undefined || inner(value)
  }
  if (schema instanceof z.ZodNullable) {
    const inner = exactly(schema.def.innerType)
    return (value) => value === null || inner(value)
  }
  if (isMoreThanItsType(schema)) return unchangedBy(schema)
  if (schema instanceof z.ZodObject) return exactlyObject(schema)
  if (schema instanceof z.ZodArray) {
    const element = exactly(schema.def.element)
    return (value) => Array.isArray(value) && value.every(element)
  }
  if (schema instanceof z.ZodRecord) {
    if (exactly(schema.def.keyType) !== isString) return unchangedBy(schema)
    const entry = exactly(schema.def.valueType)
    return (value) => isObject(value) && Object.keys(value).every((key) => key !== '__proto__' && entry(value[key]))
  }
  if (schema instanceof z.ZodUnion) {
    const options = schema.def.options.map(exactly)
    return (value) => options.some((option) => option(value))
  }
  if (schema instanceof z.ZodUnknown) return () => true
  if (schema instanceof z.ZodString) return isString
  if (schema instanceof z.ZodBoolean) return isBoolean
  // JSON has no infinite numbers, but JSON.parse makes one of 1e999, which zod refuses.
  if (schema instanceof z.ZodNumber) return 'format' in schema.def ? Number.isSafeInteger : Number.isFinite
  return unchangedBy(schema)
}

function exactlyObject(schema: z.ZodObject): Check {
  // Others than loose objects drop or refuse unknown fields.
  if (!(schema.def.catchall instanceof z.ZodUnknown)) return unchangedBy(schema)
  const fields = Object.entries(schema.def.shape).map(([key, field]) => [key, exactly(field)] as const)
  return (value) => {
    // zod drops a field of this name, which could change the prototype of whatever it is copied into.
    if (!isObject(value) || Object.hasOwn(value, '__proto__')) return false
    for (const [key, field] of fields) if (!field(value[key])) return false
    return true
  }
}

const isString: Check = (value) => typeof value === 'string'
const isBoolean: Check = (value) => typeof value === 'boolean'
const isStringOrNothing: Check = (value) => typeof value === 'string' || value === null || value === undefined
const isBooleanOrNothing: Check = (value) => typeof value === 'boolean' || value === null || value === undefined

/** Most fields of answers are this: one function for all texts, and one for all flags, is quickest to call. */
function orNothing(inner: Check): Check {
  if (inner === isString) return isStringOrNothing
  if (inner === isBoolean) return isBooleanOrNothing
  return (value) => value === null || value === undefined || inner(value)
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Lets zod say. It answers no for all that it builds anew, such as objects. */
function unchangedBy(schema: z.core.$ZodType): Check {
  return (value) => {
    const result = z.safeParse(schema, value)
    return result.success && Object.is(result.data, value)
  }
}

/** Limits, formats, conversions: what zod does to a value beyond asking for its type. */
function isMoreThanItsType(schema: z.core.$ZodType): boolean {
  const def: { readonly checks?: readonly unknown[]; readonly format?: string; readonly coerce?: boolean } = schema._zod.def
  return (def.checks?.length ?? 0) > 0 || def.coerce === true || (def.format !== undefined && def.format !== 'safeint')
}
