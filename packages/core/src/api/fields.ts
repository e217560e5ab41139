import { z } from 'zod'
import { boundsOf, defaultValueLimits, type ValueLimits } from './value-limits.js'

/**
 * Schemas of values with limits. The limits are in another file, because zod is slow to load and most users of the
 * limits do not need it.
 */

/** Makes the schema of a string with a limited number of characters. */
export const limitedText = (name: keyof ValueLimits): z.ZodString => {
  const { min, max } = defaultValueLimits[name]
  return z
    .string()
    .check(within(name, 'string', (text) => text.length))
    .meta({ minLength: min, maxLength: max })
}

/** Makes the schema of a limited whole number. */
export const limitedInteger = (name: keyof ValueLimits): z.ZodInt => {
  const { min, max } = defaultValueLimits[name]
  const bounds = { ...(min > -Infinity && { minimum: min }), ...(max < Infinity && { maximum: max }) }
  return z
    .int()
    .check(within(name, 'int', (number) => number))
    .meta(bounds)
}

/** Makes the schema of a string with a limited number of bytes. */
const limitedBytes = (name: keyof ValueLimits): z.ZodString =>
  z.string().check(({ value, issues }) => {
    const { max } = boundsOf(name)
    if (utf8Length(value) > max)
      issues.push({ code: 'custom', input: value, message: `must be at most ${max} bytes of UTF-8` })
  })

const utf8Length = (text: string) => new TextEncoder().encode(text).length

function within<T>(name: keyof ValueLimits, origin: 'string' | 'int', sizeOf: (value: T) => number): z.core.CheckFn<T> {
  return ({ value, issues }) => {
    const { min, max } = boundsOf(name)
    const size = sizeOf(value)
    if (size < min) issues.push({ code: 'too_small', origin, minimum: min, inclusive: true, input: value })
    else if (size > max) issues.push({ code: 'too_big', origin, maximum: max, inclusive: true, input: value })
  }
}

/**
 * Building blocks of the schemas. Requests and responses are treated differently:
 * - Requests are validated strictly, so that a mistake is found before it costs a request.
 * - Responses are read leniently. Unknown fields and unknown values of enumerations are accepted. Null counts as
 *   absent, and so does an optional field of an undocumented type.
 */

/** The name of each schema that has a type of its own. An OpenAPI document uses this name. */
export const names = z.registry<{ readonly id: string }>()

/**
 * Gives a schema the name of its type. The compiler checks only the schema's output against the type: checking the
 * input too would take four times as long.
 */
export function named<T>(id: string, schema: z.core.$ZodType<T>): z.ZodType<T> {
  const readable = schema as z.ZodType<T>
  names.add(readable, { id })
  return readable
}

/** A schema for each field of a type. */
type FieldSchemas<T> = { readonly [Key in keyof T]-?: z.core.$ZodType<T[Key]> }

/** Makes the schema of an object in requests, with the name of its type. Unknown fields are rejected. */
export const input = <T>(id: string, fields: FieldSchemas<T>): z.ZodType<T> =>
  named(id, z.strictObject(fields as z.core.$ZodLooseShape) as z.ZodType<unknown> as z.ZodType<T>)

/** Makes the schema of an object in responses, with the name of its type. Unknown fields are kept. */
export const answer = <T>(id: string, fields: FieldSchemas<T>): z.ZodType<T> =>
  named(id, z.looseObject(fields as z.core.$ZodLooseShape) as z.ZodType<unknown> as z.ZodType<T>)

/** A field of a response that may be missing. The service may also send null for it. */
export type Maybe<T> = T | null | undefined

/**
 * A time as 'YYYY-MM-DD HH:MM:SS.ffffff', format A of the specification. It is in UTC where the field's description
 * says so. Elsewhere the zone is not documented.
 */
export type TimestampA = `${string} ${string}`

/**
 * A time in ISO 8601 UTC with milliseconds and a trailing Z, format B of the specification: '2026-01-31T08:15:30.250Z'.
 */
export type TimestampB = `${string}T${string}Z`

/** A number that the service sometimes sends as a string. */
export type NumberOrString = number | string

/** Makes the schema of an optional field of a response. */
export const maybe = <T>(schema: z.core.$ZodType<T>) => z.nullish(schema).catch(undefined)

export const text = z.string()
export const flag = z.boolean()
/** Reads a number that the service sends as a text. */
const numberIn = (given: unknown) =>
  typeof given === 'string' && given.trim() !== '' && Number.isFinite(Number(given)) ? Number(given) : given
/** A whole number in a response, possibly sent as a text. */
export const integer = z.preprocess(numberIn, z.int()) as z.ZodType<unknown> as z.ZodType<number>
export const decimal = z.number()
export const numberOrString: z.ZodType<NumberOrString> = z.union([z.number(), z.string()])
/** A string that a public deployment sends as a number (public fact); read as a string. */
export const textOrNumber = z.preprocess(
  (given) => (typeof given === 'number' ? String(given) : given),
  text,
) as z.ZodType<unknown> as z.ZodType<string>
/** A number that the service may send as a string; read as a number. */
export const numberOrText = z.preprocess(numberIn, decimal) as z.ZodType<unknown> as z.ZodType<number>
export const timestampA = z
  .string()
  .meta({ examples: ['2026-01-31 08:15:30.250000'] }) as z.ZodType<string> as z.ZodType<TimestampA>
export const timestampB = z
  .string()
  .meta({ format: 'date-time', examples: ['2026-01-31T08:15:30.250Z'] }) as z.ZodType<string> as z.ZodType<TimestampB>

/** A name in a path segment. It must not be empty, because that would change the route. */
export const segment = z.string().min(1)

/** A value that must never be shown in a log, an error or an event. See secrets.ts. */
export const secret = z.string().min(1).meta({ format: 'password' })
/** A secret in a response, where it may be empty. */
export const secretText = text.meta({ format: 'password' })

/** Characters that a header can hold and that arrive unchanged. */
export const headerText = z
  .string()
  .regex(/^[!-~]([ -~]*[!-~])?$/, 'must be printable ASCII without spaces at its ends')
/** A secret that is sent as a header. */
export const secretHeader = headerText.meta({ format: 'password' })

export const page = { page: z.int().min(1).optional(), limit: z.int().min(1).optional() }

/** Which page of a list to return. */
export interface PageInput {
  /** Number of the page, from 1. Default 1. */
  readonly page?: number | undefined
  /** Entries per page, from 1. Default and maximum are not documented, so rely on the pagination of the response. */
  readonly limit?: number | undefined
}

export const PageInput = input<PageInput>('PageInput', page)

export const httpUrl = z.url({ protocol: /^https?$/, error: 'must be an http or https URL' })
export const ipAddress = z.union([z.ipv4(), z.ipv6()], { error: 'must be an IPv4 or IPv6 address' })
export const latitude = z.number().min(-90).max(90)
export const longitude = z.number().min(-180).max(180)

export const tagName = limitedText('tagName')

/** Value of an environment variable. It is limited in bytes, not in characters. */
export const environmentValue = limitedBytes('environmentValue')

/** The position in a list (service-api, Pagination object). */
export interface Pagination {
  /** Number of the returned page, from 1 (0 is documented as possible). */
  readonly number?: Maybe<number>
  /** Number of the next page, from 1; null on the last page. */
  readonly next_page_number?: Maybe<number>
  /** Number of the previous page, from 1; null on the first page. */
  readonly previous_page_number?: Maybe<number>
  /** How the list is divided into pages. */
  readonly paginator?: Maybe<{
    /** Number of pages, at least 1. */
    readonly num_pages?: Maybe<number>
  }>
  /** True if a page follows. */
  readonly has_next?: Maybe<boolean>
  /** True if a page comes before. */
  readonly has_previous?: Maybe<boolean>
}

const Pagination = answer<Pagination>('Pagination', {
  number: maybe(integer),
  next_page_number: maybe(integer),
  previous_page_number: maybe(integer),
  paginator: maybe(z.looseObject({ num_pages: maybe(integer) })),
  has_next: maybe(flag),
  has_previous: maybe(flag),
})

/** A page of a list. */
export interface Paged {
  /** The position of this page in the list. */
  readonly pagination?: Maybe<Pagination>
}

/** A page of a list with the number of all entries, if the service sends it (public fact: a public deployment does). */
export interface Counted extends Paged {
  /** Number of all entries. */
  readonly total_count?: Maybe<number>
}

export const paged = { pagination: maybe(Pagination) }
export const counted = { total_count: maybe(integer), ...paged }

/** The times of creation and last update of an entry. */
export interface Stamped {
  /** When the entry was created, in format A. */
  readonly create_time?: Maybe<TimestampA>
  /** When the entry was last updated, in format A. */
  readonly last_updated?: Maybe<TimestampA>
}

export const stamps = { create_time: maybe(timestampA), last_updated: maybe(timestampA) }

/** Selects locations or deployments by a field: bulk stop, legacy deploy, fleet policies, relay sessions. */
export interface Filter {
  /**
   * The field to compare. Public facts: city, country, continent, region, administrative_division, location_tags; for
   * bulk stop: request_id, deployment_tags.
   */
  readonly field:
    | 'city'
    | 'country'
    | 'continent'
    | 'region'
    | 'administrative_division'
    | 'location_tags'
    | 'request_id'
    | 'deployment_tags'
    | (string & {})
  /** The values to compare with, at least one (our choice). */
  readonly values: readonly string[]
  /** How the values are combined. The specification's sample has any; public facts: any, all, not. */
  readonly filter_type: 'any' | 'all' | 'not' | (string & {})
}

export const Filter = input<Filter>('Filter', {
  field: z.string().min(1),
  values: z.array(z.string()).min(1),
  filter_type: z.string().min(1),
})

/** A filter, in responses. */
export type FilterEcho = Masked<Filter>

export const FilterEcho = answer<FilterEcho>('FilterEcho', {
  field: maybe(text),
  values: maybe(z.array(text)),
  filter_type: maybe(text),
})

/** A response that is only a message. */
export interface Message {
  /** A message for people. */
  readonly message?: Maybe<string>
}

export const Message = answer<Message>('Message', { message: maybe(text) })

/** Every key may be missing: responses are read leniently, and a mask of fields (header X-Fields) omits some. */
export type Masked<T> = { readonly [Key in keyof T]?: Maybe<T[Key]> }
