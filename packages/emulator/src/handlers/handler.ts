import type { Api, InputOf, OutputOf, Pagination, SuccessOf } from '@muster/core/api'
import type { ErrorsOf, PageInput } from '@muster/core/internal'
import type { RequestProblem } from '../deployments/index.js'
import type { Strike } from '../faults.js'
import type { PageSizes } from '../settings.js'
import type { World } from '../world.js'

export interface ItemPage<Item> {
  readonly items: readonly Item[]
  readonly total: number
  readonly pagination: Pagination
}

/** Returns one page of a list, with the documented pagination object. A page after the last one is empty. Pure. */
export function paged<Item>(all: readonly Item[], wanted: PageInput, sizes: PageSizes): ItemPage<Item> {
  const limit = Math.min(wanted.limit ?? sizes.default, sizes.maximum)
  const number = wanted.page ?? 1
  const pages = Math.max(1, Math.ceil(all.length / limit))
  const hasNext = number < pages
  const hasPrevious = number > 1
  return {
    items: all.slice((number - 1) * limit, number * limit),
    total: all.length,
    pagination: {
      number,
      next_page_number: hasNext ? number + 1 : null,
      // If the requested page is after the last one, the previous page is the last page that has entries.
      previous_page_number: hasPrevious ? Math.min(number - 1, pages) : null,
      paginator: { num_pages: pages },
      has_next: hasNext,
      has_previous: hasPrevious,
    },
  }
}

/** Returns all entries on one page, for lists without page numbers whose response has pagination. */
export const onePage = <Item>(all: readonly Item[]): ItemPage<Item> =>
  paged(all, {}, { default: Math.max(1, all.length), maximum: Infinity })

/**
 * A mask of fields as in the X-Fields header: `{name,owner{id},pagination}`. Outer braces are optional, and `*` stands
 * for all other fields. Unknown fields are ignored. The specification only names the header. The syntax is that of
 * Flask-RESTX, where the header comes from (our choice). Pure.
 */
type Mask = ReadonlyMap<string, Mask | undefined>

export function parseMask(text: string): Mask | RequestProblem {
  const tokens = text.replaceAll(/\s/g, '').match(/[{},]|[^{},]+/g) ?? []
  let at = 0

  const fields = (): Mask | RequestProblem => {
    const mask = new Map<string, Mask | undefined>()
    do {
      const name = tokens[at++]
      if (name === undefined || !/^(?:[\w:-]+|\*)$/.test(name))
        return { problem: `expected a field, not ${shown(name)}` }
      mask.set(name, undefined)
      if (tokens[at] === '{') {
        at++
        const nested = fields()
        if ('problem' in nested) return nested
        if (tokens[at++] !== '}') return { problem: `the brace after ${name} is not closed` }
        mask.set(name, nested)
      }
    } while (tokens[at] === ',' && ++at > 0)
    return mask
  }

  const braced = tokens[0] === '{'
  if (braced) at++
  const mask = fields()
  if ('problem' in mask) return mask
  if (braced && tokens[at++] !== '}') return { problem: 'the outer brace is not closed' }
  return at < tokens.length ? { problem: `${shown(tokens[at])} comes after the end` } : mask
}

const shown = (token: string | undefined) => (token === undefined ? 'the end' : JSON.stringify(token))

/**
 * Applies a mask to a value. Objects keep only the masked fields, lists are masked item by item, and other values stay.
 */
export function applyMask(mask: Mask, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item: unknown) => applyMask(mask, item))
  if (typeof value !== 'object' || value === null) return value
  const all = mask.has('*')
  const kept = Object.entries(value).filter(([key]) => all || mask.has(key))
  return Object.fromEntries(
    kept.map(([key, inner]) => {
      const nested = mask.get(key)
      return [key, nested === undefined ? inner : applyMask(nested, inner)]
    }),
  )
}

/**
 * The handlers of the API: one for each operation. The compiler rejects a missing handler, an undeclared status, a
 * response of another shape, and an undeclared input key.
 */
export type Handlers = { readonly [Group in keyof Api]: HandlersOf<Group> }

export type HandlersOf<Group extends keyof Api> = { readonly [Name in keyof Api[Group]]: Handler<Api[Group][Name]> }

/**
 * Handles one operation. The input is validated and the caller authorized before. A thrown error becomes a 500
 * response.
 */
export type Handler<Op> = (input: InputOf<Op>, context: RequestContext) => AnswerOf<Op> | Promise<AnswerOf<Op>>

export interface RequestContext {
  readonly world: World
  /**
   * The declared faults that affect this request, including those of the deployment or session that it creates, and of
   * the webhooks.
   */
  readonly faults: Strike | undefined
}

type AnswerOf<Op> =
  | ([OutputOf<Op>] extends [undefined] ? never : Success<OutputOf<Op>, SuccessOf<Op>>)
  | ([OutputOf<Op>] extends [undefined] ? NoContent : 204 extends SuccessOf<Op> ? NoContent : never)
  | Failure<ErrorsOf<Op>>

export interface Success<Body, Status extends number = never> {
  readonly kind: 'success'
  /** The status of the response; undefined for the operation's usual status. */
  readonly status: Status | undefined
  readonly body: Body
}

export interface NoContent {
  readonly kind: 'no content'
}

export interface Failure<Status extends number> {
  readonly kind: 'failure'
  readonly status: Status
  readonly body: { readonly message: string; readonly [key: string]: unknown }
}

/** Creates a success, with the operation's usual status or with another declared one. */
export function ok<Body>(body: Body): Success<Body>
export function ok<Body, const Status extends number>(status: Status, body: Body): Success<Body, Status>
export function ok(...given: [body: unknown] | [status: number, body: unknown]): Success<unknown, number> {
  const [status, body] = given.length === 1 ? [undefined, given[0]] : given
  return { kind: 'success', status, body }
}

const nothing: NoContent = { kind: 'no content' }

/** A success without a body: 204. */
export const noContent = (): NoContent => nothing

/** Creates an error that the operation declares. The fields of `extra` are added to the body beside the message. */
export function fail<const Status extends number>(
  status: Status,
  message: string,
  extra: Readonly<Record<string, unknown>> = {},
): Failure<Status> {
  return { kind: 'failure', status, body: { ...extra, message } }
}

/** Applies the X-Fields header to the body of a list, in which every field may be missing. */
export function masked<Body extends object>(
  body: Body,
  fields: string | undefined,
): Success<Partial<Body>> | Failure<400> {
  if (fields === undefined) return ok(body)
  const mask = parseMask(fields)
  return 'problem' in mask ? fail(400, `X-Fields: ${mask.problem}`) : ok(applyMask(mask, body) as Partial<Body>)
}
