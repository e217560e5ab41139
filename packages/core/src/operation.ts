import type { z } from 'zod'

/**
 * The description of every operation of the service as plain data. The client, the emulator, the OpenAPI document and
 * the conformance suite are derived from it.
 */

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** A documented rate limit: at most `limit` requests in any `windowMs` milliseconds (service-api, Limits). */
export interface RateLimit {
  /** Operations whose limits have the same name share one queue. */
  readonly name: string
  readonly limit: number
  readonly windowMs: number
}

/** An operation as one object; see {@link operation} for its notation. */
export interface Operation<
  Input = unknown,
  Output = unknown,
  Success extends number = number,
  Errors extends number = number,
> {
  readonly method: Method
  /** Path with `{key}` placeholders, e.g. `/v1/app/{app_name}`. Each placeholder is a key of the input. */
  readonly path: string
  /** The placeholders of `path`, in order. */
  readonly pathKeys: readonly string[]
  /** One line of description for documents. */
  readonly summary: string
  /** One flat object with all path, query, header and body keys. Keys of different places never have the same name. */
  readonly input: z.ZodType<Input>
  /** Schema of the response body; undefined if a success has no content. */
  readonly output: z.ZodType<Output> | undefined
  /** Documented success statuses, the usual one first. The client accepts any 2xx. */
  readonly success: readonly Success[]
  /** Documented error statuses. 429 may come from any operation and is not listed. */
  readonly errors: readonly Errors[]
  /** The documented rate limit of the operation, if any. */
  readonly limit: RateLimit | undefined
  /** Input keys sent as headers, with the header's name. */
  readonly headers: Readonly<Record<string, string>>
  /** Input keys sent in the query although the method has a body. */
  readonly query: readonly string[]
  /** For paged responses: the output key that holds the items. */
  readonly items: string | undefined
  /** The token that authorizes the operation: the account's, or the delete token injected into one container. */
  readonly auth: 'token' | 'delete-token'
  /** Body keys that get these values if the input has none and the setting `fillRequired` is on. */
  readonly fill: Readonly<Record<string, unknown>>
  /** Names that the specification leaves to settings. Maps an input key, or 'path', to a key of `Settings`. */
  readonly open: Readonly<Record<string, string>>
}

/** `'a' | 'b'` for `'/x/{a}/y/{b}'`. */
export type Placeholders<Route extends string> = Route extends `${string}{${infer Key}}${infer Rest}`
  ? Key | Placeholders<Rest>
  : never

export interface OperationDetails<Input, Output, Success extends number, Errors extends number> {
  readonly summary: string
  readonly input: z.ZodType<Input>
  readonly output?: z.ZodType<Output>
  readonly success?: readonly Success[]
  readonly errors: readonly Errors[]
  readonly limit?: RateLimit
  readonly headers?: Readonly<Record<string, string>>
  readonly query?: readonly string[]
  readonly items?: keyof Output & string
  readonly auth?: 'delete-token'
  readonly open?: Readonly<Record<string, string>>
  readonly fill?: Readonly<Record<string, unknown>>
}

/**
 * Describes one operation: `operation('GET /v1/fleet/{fleet_name}', { input, output, errors, … })`. A placeholder of
 * the route that is not a key of the input does not compile. The place of a key follows from the route and the method.
 * Placeholders go into the path. Other keys go into the query for GET and DELETE, and into the JSON body for other
 * methods, unless `headers` or `query` overrides the place.
 */
export function operation<
  const Route extends `${Method} /${string}`,
  Input extends Readonly<Record<Placeholders<Route>, string>>,
  Output = undefined,
  const Success extends number = [Output] extends [undefined] ? 204 : 200,
  const Errors extends number = never,
>(route: Route, details: OperationDetails<Input, Output, Success, Errors>): Operation<Input, Output, Success, Errors> {
  const space = route.indexOf(' ')
  const path = route.slice(space + 1)
  return {
    method: route.slice(0, space) as Method,
    path,
    pathKeys: Array.from(path.matchAll(/\{(\w+)\}/g), (match) => match[1] as string),
    summary: details.summary,
    input: details.input,
    output: details.output,
    success: details.success ?? [(details.output === undefined ? 204 : 200) as Success],
    errors: details.errors,
    limit: details.limit,
    headers: details.headers ?? {},
    query: details.query ?? [],
    items: details.items,
    auth: details.auth ?? 'token',
    open: details.open ?? {},
    fill: details.fill ?? {},
  }
}

export type InputOf<Op> = Op extends Operation<infer Input, infer _O, infer _S, infer _E> ? Input : never
export type OutputOf<Op> = Op extends Operation<infer _I, infer Output, infer _S, infer _E> ? Output : never
export type SuccessOf<Op> = Op extends Operation<infer _I, infer _O, infer Success, infer _E> ? Success : never
export type ErrorsOf<Op> = Op extends Operation<infer _I, infer _O, infer _S, infer Errors> ? Errors : never
