import type { z } from 'zod'
import { type Clock, dateOf } from '../time.js'
import { type Fault, jsonIn, validate } from '../validation/index.js'
import { deepFreeze } from './cache.js'
import type { EventSink } from './call-events.js'
import { type MusterError, UnexpectedResponse } from './errors.js'
import { headerOf, refusal, withoutSecretsOf } from './refusal.js'
import { factsOf, type Request } from './request.js'
import type { HttpAnswer } from './transport.js'

/** A response without its unreadable list entries. */
interface ReadableEntries {
  readonly json: Readonly<Record<string, unknown>>
  /** The omitted entries and their faults, e.g. `data.3.request_id`: `is missing`. */
  readonly leftOut: readonly Pick<Fault, 'field' | 'wrong'>[]
}

/**
 * Returns the readable part of a response that does not fit its schema. One list entry without a required field, such
 * as an id, must not hide all others. Returns undefined if anything else is wrong, or if no entry of a list can be
 * read.
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

/** The parts of a request that decoding its response needs. */
type RequestFacts = Pick<Request, 'id' | 'call' | 'input' | 'operation' | 'progress' | 'template'>

/**
 * The last hop: reads the value of a response.
 * @throws {MusterError} of the class that belongs to the status.
 */
export function decode(request: RequestFacts, answer: HttpAnswer, clock: Clock, events: EventSink): unknown {
  if (answer.status >= 200 && answer.status < 300) return contentOf(request, answer, events)
  throw refusal(request, answer, dateOf(clock))
}

/**
 * Returns the result of a DELETE whose first attempt succeeded but whose response was lost. The second attempt was
 * answered with `error`, because nothing was left to delete. The result has the message of `error`.
 */
export function decodeGone({ operation }: Pick<Request, 'operation'>, error: MusterError): unknown {
  const result = operation.output?.safeParse({ message: error.message })
  return result?.success ? deepFreeze(result.data) : undefined
}

/**
 * Returns the value of a successful response; any 2xx counts. Unknown fields are kept. A wrong content type is ignored
 * if the body is JSON, and a body is ignored where none is documented. Unreadable list entries are omitted and
 * reported. The value is frozen, because equal reads share it and some responses are cached.
 * @throws {UnexpectedResponse} for a body that is empty, is not JSON, or lacks a field that the code requires.
 */
function contentOf(request: RequestFacts, answer: HttpAnswer, events: EventSink): unknown {
  const { output, success } = request.operation
  if (output === undefined) return undefined
  const unexpected = (what: string, field?: string): MusterError =>
    new UnexpectedResponse(`${request.id}: ${what} (status ${answer.status})`, {
      ...factsOf(request),
      status: answer.status,
      field,
    })

  // Some operations are documented to succeed without content, e.g. the revocation of a relay user.
  if (answer.body === '' && success.includes(204)) return undefined
  if (answer.body === '') {
    // A public deployment answers some deletions and stops without a body (public fact). Then the status alone is the
    // result.
    const nothing = request.operation.method === 'DELETE' ? validate(output, {}) : undefined
    if (nothing?.success === true) return deepFreeze(nothing.data)
    throw unexpected('the answer is empty')
  }
  const json = withList(request, parse(answer.body))
  if (json === undefined) {
    const type = withoutSecretsOf(request, headerOf(answer, 'content-type') ?? 'not given')
    throw unexpected(`the answer is not JSON (${answer.bytes} bytes, content type ${type})`)
  }
  const result = validate(output, json.value)
  if (result.success) return deepFreeze(result.data)
  const readable = readableEntries(output, json.value)
  const rest = readable && validate(output, readable.json)
  if (rest?.success) {
    const { leftOut } = readable as ReadableEntries
    tellLeftOut(request, leftOut, events)
    leftOutOf.set(rest.data as object, leftOut.length)
    return deepFreeze(rest.data)
  }
  const { field, wrong } = result.fault
  throw unexpected(
    `the answer's ${field === undefined ? 'body' : `field ${field}`} is not as described: it ${wrong}`,
    field,
  )
}

/** Number of entries that were omitted from a response because they could not be read. */
export const leftOutOf = new WeakMap<object, number>()

/**
 * Adds an empty list to a response that lacks its key, because a public deployment omits an empty list (public fact).
 * The list is empty if earlier pages have all counted entries. If responses of this type never have a count, the list
 * is empty unless a page follows.
 */
function withList(
  { operation: { items, output }, input }: Pick<RequestFacts, 'operation' | 'input'>,
  json: { readonly value: unknown } | undefined,
): { readonly value: unknown } | undefined {
  const { value } = json ?? {}
  if (items === undefined || typeof value !== 'object' || value === null || Array.isArray(value)) return json
  const { [items]: list, total_count: total, count, pagination } = value as Readonly<Record<string, unknown>>
  if (list !== undefined && list !== null) return json
  const counts = [total, count].filter((one) => one !== undefined && one !== null)
  const { has_next: hasNext } = (pagination ?? {}) as { readonly has_next?: unknown }
  const { page = 1, limit = 0 } = (input ?? {}) as { readonly page?: number; readonly limit?: number }
  const before = (page - 1) * limit
  const isEmpty =
    counts.length > 0
      ? counts.every((one) => typeof one === 'number' && one <= before)
      : !isCounted(output) && hasNext !== true
  return isEmpty ? { value: { ...value, [items]: [] } } : json
}

/** True if responses of this shape contain the number of all entries. */
function isCounted(output: z.ZodType | undefined): boolean {
  const { def } = (output as unknown as z.core.$ZodTypes)._zod
  return def.type === 'object' && ('total_count' in def.shape || 'count' in def.shape)
}

/**
 * Emits an event for each omitted entry. Without a listener, emits a process warning, because the entry may be a server
 * that costs money.
 */
function tellLeftOut(request: RequestFacts, leftOut: ReadableEntries['leftOut'], events: EventSink): void {
  const { attempt } = request.progress
  if (!events.listens('unreadable')) {
    const [first] = leftOut
    const others = leftOut.length > 1 ? `, and ${leftOut.length - 1} more` : ''
    process.emitWarning(
      `${request.id}: an entry of the answer was left out: ${first?.field} ${first?.wrong}${others}`,
      'MusterWarning',
    )
  }
  for (const { field, wrong } of leftOut)
    events.emit('unreadable', { ...factsOf(request), attempt, field: field ?? '', wrong })
}

/** Parses JSON; returns undefined for other text. */
function parse(text: string): { readonly value: unknown } | undefined {
  // A byte order mark is not part of JSON, but some servers send one.
  const value = jsonIn(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text)
  return value === undefined ? undefined : { value }
}
