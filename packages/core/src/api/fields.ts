import { z } from 'zod'
import { boundsOf, defaultValueLimits, type ValueLimits } from './value-limits.js'

/**
 * Schemas of limited values. Apart from the limits, because zod takes longer to load than all that reads the limits.
 */

/** A text with a limited number of characters. */
export const limitedText = (name: keyof ValueLimits): z.ZodString => {
  const { min, max } = defaultValueLimits[name]
  return z
    .string()
    .check(within(name, 'string', (text) => text.length))
    .meta({ minLength: min, maxLength: max })
}

/** A limited whole number. */
export const limitedInteger = (name: keyof ValueLimits): z.ZodInt => {
  const { min, max } = defaultValueLimits[name]
  const bounds = { ...(min > -Infinity && { minimum: min }), ...(max < Infinity && { maximum: max }) }
  return z
    .int()
    .check(within(name, 'int', (number) => number))
    .meta(bounds)
}

/** A text with a limited number of bytes. */
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
 * Building blocks of the schemas. Two attitudes, on purpose:
 * - What we send is checked strictly, so that a mistake is found before it costs a request.
 * - What we receive is read leniently: unknown fields pass through, null is as good as absent, an unknown
 *   value of an enumeration is a value, and an optional field of another type than documented reads as absent.
 */

/** The name of each schema that has a type of its own: what it is called in an OpenAPI document. */
export const names = z.registry<{ readonly id: string }>()

/**
 * A schema that goes by the name of its type. Only its output is compared with the type: comparing the input too takes
 * the compiler four times as long.
 */
export function named<T>(id: string, schema: z.core.$ZodType<T>): z.ZodType<T> {
  const readable = schema as z.ZodType<T>
  names.add(readable, { id })
  return readable
}

/** A schema for each field of a type. */
type Fields<T> = { readonly [Key in keyof T]-?: z.core.$ZodType<T[Key]> }

/** An object that we send, or a part of one, by the name of its type: unknown fields are refused. */
export const input = <T>(id: string, fields: Fields<T>): z.ZodType<T> =>
  named(id, z.strictObject(fields as z.core.$ZodLooseShape) as z.ZodType<unknown> as z.ZodType<T>)

/** An object that we receive, or a part of one, by the name of its type: unknown fields are kept. */
export const answer = <T>(id: string, fields: Fields<T>): z.ZodType<T> =>
  named(id, z.looseObject(fields as z.core.$ZodLooseShape) as z.ZodType<unknown> as z.ZodType<T>)

/** A field of an answer that may be missing. The service may also send null for it. */
export type Maybe<T> = T | null | undefined

/** 'YYYY-MM-DD HH:MM:SS.ffffff', the document's format A. UTC where it says so; otherwise the zone is not shown. */
export type TimestampA = `${string} ${string}`

/** ISO 8601 UTC with milliseconds and a trailing Z, the document's format B: '2026-01-31T08:15:30.250Z'. */
export type TimestampB = `${string}T${string}Z`

/** A number that the service was seen to send as a string. */
export type NumberOrString = number | string

/** An optional field of an answer. */
export const maybe = <T>(schema: z.core.$ZodType<T>) => z.nullish(schema).catch(undefined)

export const text = z.string()
export const flag = z.boolean()
export const integer = z.int()
export const decimal = z.number()
export const numberOrString: z.ZodType<NumberOrString> = z.union([z.number(), z.string()])
/** A text that a public deployment sends as a number (public fact); given as a text. */
export const textOrNumber = z.preprocess(
  (given) => (typeof given === 'number' ? String(given) : given),
  text,
) as z.ZodType<unknown> as z.ZodType<string>
/** A number that the service may send as a text; given as a number. */
export const numberOrText = z.preprocess(
  (given) =>
    typeof given === 'string' && given.trim() !== '' && Number.isFinite(Number(given)) ? Number(given) : given,
  decimal,
) as z.ZodType<unknown> as z.ZodType<number>
export const timestampA = z
  .string()
  .meta({ examples: ['2026-01-31 08:15:30.250000'] }) as z.ZodType<string> as z.ZodType<TimestampA>
export const timestampB = z
  .string()
  .meta({ format: 'date-time', examples: ['2026-01-31T08:15:30.250Z'] }) as z.ZodType<string> as z.ZodType<TimestampB>

/** A name used as a path segment: anything but empty, which would change the route. */
export const segment = z.string().min(1)

/** A value that must never be shown: not in a log, an error or an event. See secrets.ts. */
export const secret = z.string().min(1).meta({ format: 'password' })
/** The same in an answer, where it may be empty. */
export const secretText = text.meta({ format: 'password' })

/** What can stand in a header, and arrives as it was sent. */
export const headerText = z
  .string()
  .regex(/^[!-~]([ -~]*[!-~])?$/, 'must be printable ASCII without spaces at its ends')
/** A secret that is sent as a header. */
export const secretHeader = headerText.meta({ format: 'password' })

export const page = { page: z.int().min(1).optional(), limit: z.int().min(1).optional() }

/** The page wanted, in list operations. */
export interface PageInput {
  /** From 1; default 1. */
  readonly page?: number | undefined
  /** Entries per page, from 1. Default and maximum are not documented, so rely on the pagination of the answer. */
  readonly limit?: number | undefined
}

export const PageInput = input<PageInput>('PageInput', page)

export const httpUrl = z.url({ protocol: /^https?$/, error: 'must be an http or https URL' })
export const ipAddress = z.union([z.ipv4(), z.ipv6()], { error: 'must be an IPv4 or IPv6 address' })
export const latitude = z.number().min(-90).max(90)
export const longitude = z.number().min(-180).max(180)

export const tagName = limitedText('tagName')

/** Environment values are limited in bytes, not in characters. */
export const environmentValue = limitedBytes('environmentValue')

/** The position in a list (service-api, Pagination object). */
export interface Pagination {
  /** This page, from 1 (0 is documented as possible). */
  readonly number?: Maybe<number>
  /** From 1; null on the last page. */
  readonly next_page_number?: Maybe<number>
  /** From 1; null on the first page. */
  readonly previous_page_number?: Maybe<number>
  /** How the list is cut into pages. */
  readonly paginator?: Maybe<{
    /** How many pages there are, at least 1. */
    readonly num_pages?: Maybe<number>
  }>
  /** Whether a page follows. */
  readonly has_next?: Maybe<boolean>
  /** Whether a page comes before. */
  readonly has_previous?: Maybe<boolean>
}

export const Pagination = answer<Pagination>('Pagination', {
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

/** A page of a list whose length the service may tell (public fact: a public deployment does). */
export interface Counted extends Paged {
  /** Number of all entries. */
  readonly total_count?: Maybe<number>
}

export const counted = { total_count: maybe(integer), pagination: maybe(Pagination) }

/** What the service keeps, and since when. */
export interface Stamped {
  /** Format A. */
  readonly create_time?: Maybe<TimestampA>
  /** Format A. */
  readonly last_updated?: Maybe<TimestampA>
}

export const stamps = { create_time: maybe(timestampA), last_updated: maybe(timestampA) }

/** Chooses places or deployments by a field: bulk stop, legacy deploy, fleet policies, relay sessions. */
export interface Filter {
  /**
   * Public facts: city, country, continent, region, administrative_division, location_tags; bulk stop: request_id,
   * deployment_tags.
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
  /** What the field is compared with, at least one (our choice). */
  readonly values: readonly string[]
  /** Sampled as any; public facts: any, all, not. */
  readonly filter_type: 'any' | 'all' | 'not' | (string & {})
}

export const Filter = input<Filter>('Filter', {
  field: z.string().min(1),
  values: z.array(z.string()).min(1),
  filter_type: z.string().min(1),
})

/** A filter as answers carry it. */
export type FilterEcho = Masked<Filter>

export const FilterEcho = answer<FilterEcho>('FilterEcho', {
  field: maybe(text),
  values: maybe(z.array(text)),
  filter_type: maybe(text),
})

/** An answer that is only a message. */
export interface Message {
  /** A text for people. */
  readonly message?: Maybe<string>
}

export const Message = answer<Message>('Message', { message: maybe(text) })

/** Every key may be missing: answers are read leniently, and a mask of fields (header X-Fields) leaves some out. */
export type Masked<T> = { readonly [Key in keyof T]?: Maybe<T[Key]> }
