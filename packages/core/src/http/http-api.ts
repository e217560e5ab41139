import { StoreUnavailable } from '../client/errors.js'
import type { Clock } from '../clock.js'
import type { InputOf, Operation, OutputOf } from '../operation.js'
import { scrub } from '../redact.js'
import { whenKnown, type Awaitable } from '../runtime/awaitable.js'
import { addressBlock } from './address-block.js'
import { createAdmission, UNKNOWN_ADDRESS, type Caller, type RequestLimits } from './admission.js'
import { createBodies, type BodyLimits } from './bodies.js'
import { clientAddress, type AddressOf, type Connection } from './client-address.js'
import { corsHeaders, preflight, type CorsOptions } from './cors.js'
import { inputReader, type InputReader, type QuickRead } from './input.js'
import { targetOf, type Target } from './lazy-request.js'
import { Problem, problemReply } from './problem.js'
import { handlerOf, JsonText, type HttpHandler, type Reply } from './reply.js'
import { createMatcher, methodsOf, type Match, type Routes } from './routes.js'

/** Facts about a request besides its input. */
export interface Exchange<Who> {
  readonly caller: Who
  /** Canonical IP address of the client, if known. */
  readonly address: string | undefined
  readonly request: Request
}

/**
 * A handler's result: the body of the operation's usual answer (undefined if it has none), its JSON, or any other
 * answer.
 */
type Result<Body> = Body | JsonText | Response | (undefined extends Body ? void : never)

/** A handler for every route; a missing one does not compile. Anonymous routes have no caller. */
export type Handlers<Table extends Routes, Who extends Caller, Anonymous extends keyof Table = never> = {
  readonly [Name in keyof Table]: (
    input: InputOf<Table[Name]>,
    exchange: Exchange<Name extends Anonymous ? undefined : Who>,
  ) => Result<OutputOf<Table[Name]>> | Promise<Result<OutputOf<Table[Name]>>>
}

/** Identifies the caller; undefined for an unknown one. A `Problem` that it throws becomes the answer. */
export type Authenticate<Who extends Caller> = (
  request: Request,
  connection: Connection,
) => Who | undefined | Promise<Who | undefined>

export interface HttpApiOptions<Table extends Routes, Who extends Caller, Anonymous extends keyof Table & string> {
  readonly routes: Table
  readonly handlers: Handlers<Table, Who, Anonymous>
  /** Routes that need no caller. */
  readonly anonymous: readonly Anonymous[]
  readonly authenticate: Authenticate<Who>
  readonly clock: Clock
  /** Prefix of every path, e.g. `/lobby-api`. Default none. */
  readonly basePath?: string | undefined
  /**
   * Reads the usual input of a route in a fraction of the time that its schema takes; undefined for any other input,
   * which the schema then decides. Its result must equal the schema's.
   */
  readonly quickReads?: { readonly [Name in keyof Table]?: QuickRead<InputOf<Table[Name]>> } | undefined
  /** Largest body in bytes, for all routes or for each by its name. */
  readonly maxBodyBytes: number | ((route: keyof Table & string) => number)
  /** Limits of unfinished bodies and of their time. Bodies of exempt callers do not count for their address. */
  readonly bodies?: BodyLimits | undefined
  /**
   * Throws the problem of a caller who may not use a route, before the body is read. Anonymous routes have no caller:
   * their proof is in the request. Default: every caller may use every route.
   */
  readonly authorize?:
    | ((route: keyof Table & string, caller: Who | undefined, request: Request) => void | Promise<void>)
    | undefined
  /** Finds the client's address. Default: the socket's other end. */
  readonly address?: AddressOf | undefined
  /** Limits of requests. Default none. */
  readonly limits?: RequestLimits<Who> | undefined
  /** Lets pages of these origins call the API. Default none. */
  readonly cors?: CorsOptions | undefined
  /** Maps an error of the domain to a problem; undefined for other errors. */
  readonly problemOf?: ((error: unknown) => Problem | undefined) | undefined
  /**
   * Called with unexpected errors, of which the client learns nothing but the status: 503 if a shared store is not
   * available, otherwise 500. Default: a process warning.
   */
  readonly onError?: ((error: unknown) => void) | undefined
}

/** Answers hold credentials and short-lived data, so they must not be cached. */
const ALWAYS = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' }
const ALWAYS_JSON = { 'content-type': 'application/json', ...ALWAYS }

const unavailable = () =>
  new Problem(503, 'unavailable', 'this server cannot answer at the moment: try again', { retryAfterMs: 1000 })
const internal = () => new Problem(500, 'internal-error', 'something went wrong here')

/** Creates an HTTP API from described routes and a handler for each route. */
export function createHttpApi<Table extends Routes, Who extends Caller, Anonymous extends keyof Table & string>(
  options: HttpApiOptions<Table, Who, Anonymous>,
): HttpHandler {
  const {
    routes,
    authenticate,
    authorize,
    clock,
    maxBodyBytes,
    cors,
    address: addressOf = clientAddress(),
    problemOf,
    onError = warn,
  } = options
  const match = createMatcher<keyof Table & string>(routes, options.basePath)
  const methods = methodsOf(routes)
  const anonymous = new Set<string>(options.anonymous)
  const admission = createAdmission<Who>(options.limits ?? {}, clock)
  const bodies = createBodies({ ...options.bodies, clock })

  const names = Object.keys(routes) as (keyof Table & string)[]
  const reads = new Map(names.map((name) => [name, inputReader(routes[name] as Operation, options.quickReads?.[name])]))

  const find = (request: Request, { pathname }: Target, from: string): Awaitable<Match<keyof Table & string>> => {
    try {
      return match(request.method === 'HEAD' ? 'GET' : request.method, pathname)
    } catch (error) {
      // Requests for unknown paths are limited too.
      return whenKnown(admission.anonymous(from), () => {
        throw error
      })
    }
  }

  // Nothing is awaited that is there already: a promise for each step would cost more than the step itself.
  const handle = (request: Request, connection: Connection): Awaitable<Reply | Response> => {
    const target = targetOf(request)
    const asked = cors && preflight(request, methods)
    if (asked !== undefined) return withHeaders(asked, ALWAYS)
    const address = addressOf(request, connection)
    const from = address === undefined ? UNKNOWN_ADDRESS : addressBlock(address)
    return whenKnown(find(request, target, from), (found) => {
      const maxBytes = typeof maxBodyBytes === 'number' ? maxBodyBytes : maxBodyBytes(found.name)
      const body = bodies.begin(request, maxBytes, from)
      const who = anonymous.has(found.name)
        ? admission.anonymous(from)
        : admission.caller(request, from, () => authenticate(request, connection))
      return whenKnown<Who | undefined, Awaitable<Reply | Response>>(who, (caller) =>
        whenKnown(authorize?.(found.name, caller, request), () => {
          if (caller !== undefined && admission.isExempt(caller)) body.trust()
          const read = reads.get(found.name) as InputReader
          // The types of the handlers were checked where they were passed in.
          const handler = options.handlers[found.name] as (input: unknown, exchange: unknown) => unknown
          return whenKnown(read(request, target, found.path, body.bytes), (input) =>
            whenKnown(handler(input, { caller, address, request }), (result) => replyOf(found, result)),
          )
        }),
      )
    })
  }

  const problem = (error: unknown, request: Request): Problem => {
    const known = error instanceof Problem ? error : problemOf?.(error)
    if (known !== undefined) return known
    // The client has disconnected: nobody reads the answer, and there is no error.
    if (request.signal.aborted && error === request.signal.reason)
      return new Problem(499, 'client-gone', 'the client went away')
    onError(error)
    if (error instanceof StoreUnavailable) return unavailable()
    return internal()
  }

  const refusal = (error: unknown, request: Request): Reply => {
    let refused = internal()
    try {
      refused = problem(error, request)
    } catch {} // problemOf or onError threw an error
    const { headers, ...reply } = problemReply(refused)
    return { ...reply, headers: { ...headers, ...ALWAYS } }
  }

  const finish = (answer: Reply | Response, request: Request): Reply | Response => {
    const told = cors === undefined ? answer : withHeaders(answer, corsHeaders(cors, request))
    return request.method === 'HEAD' ? withoutBody(told) : told
  }

  return handlerOf((request, connection) => {
    let answer: Awaitable<Reply | Response>
    try {
      answer = handle(request, connection)
    } catch (error) {
      return finish(refusal(error, request), request)
    }
    if (!(answer instanceof Promise)) return finish(answer, request)
    return answer.then(
      (known) => finish(known, request),
      (error: unknown) => finish(refusal(error, request), request),
    )
  })
}

function withHeaders(answer: Reply | Response, more: Readonly<Record<string, string>>): Reply | Response {
  if (!(answer instanceof Response)) return { ...answer, headers: { ...answer.headers, ...more } }
  const headers = new Headers(answer.headers) // a redirect's own headers are immutable
  for (const [name, value] of Object.entries(more)) {
    if (name === 'vary') headers.append(name, value)
    else headers.set(name, value)
  }
  return new Response(answer.body, { status: answer.status, headers })
}

function withoutBody(answer: Reply | Response): Reply | Response {
  if (!(answer instanceof Response)) return { ...answer, body: '' }
  answer.body?.cancel().catch(() => {})
  return new Response(null, { status: answer.status, headers: answer.headers })
}

function replyOf({ operation }: Match, result: unknown): Reply | Response {
  if (result instanceof Response) return withHeaders(result, ALWAYS)
  const status = operation.success[0] as number
  return result === undefined
    ? { status, headers: ALWAYS, body: '' }
    : {
        status,
        headers: ALWAYS_JSON,
        body: result instanceof JsonText ? result.text : JSON.stringify(result),
      }
}

function warn(error: unknown): void {
  process.emitWarning(`a request failed: ${scrub(String(error))}`, 'MusterWarning')
}
