import { StoreUnavailable } from '../client/errors.js'
import type { Clock } from '../time.js'
import { addressBlock } from '../ip.js'
import type { InputOf, Operation, OutputOf } from '../operation.js'
import { warnThat } from '../redact.js'
import { callSafely } from '../runtime/index.js'
import { type Caller, COUNTED_BYTES, createAdmission, type RequestLimits, UNKNOWN_ADDRESS } from './admission.js'
import { type Connection, handlerOf, type HttpHandler, Problem, problemReply, type Reply } from './answers.js'
import { type BodyLimits, createBodies } from './bodies.js'
import { corsHeaders, type CorsOptions, preflight } from './cors.js'
import { createMatcher, inputReader, type InputReader, type Match, methodsOf } from './input.js'
import { targetOf } from './lazy-request.js'
import { isOpen, type Routes } from './own-routes.js'
import type { LimitStore } from './attempts.js'
import { type AddressOf, clientAddress } from './request-headers.js'

/** What a handler gets in addition to the input. */
export interface Exchange<Who> {
  readonly caller: Who
  /** Canonical IP address of the client, if known. */
  readonly address: string | undefined
  readonly request: Request
}

/**
 * A handler's result: another response, or the body of the operation's usual response. Undefined if that response has
 * no body.
 */
type Result<Body> = Body | Response | (undefined extends Body ? void : never)

/** A handler for every route. A missing handler does not compile. Routes for anyone have no caller. */
export type Handlers<Table extends Routes, Who extends Caller> = {
  readonly [Name in keyof Table]: (
    input: InputOf<Table[Name]>,
    exchange: Exchange<Table[Name] extends { readonly who: 'anyone' } ? undefined : Who>,
  ) => Result<OutputOf<Table[Name]>> | Promise<Result<OutputOf<Table[Name]>>>
}

/**
 * Identifies the caller. Returns undefined for an unknown caller. If it throws a `Problem`, that becomes the response.
 */
export interface Authenticate<Who extends Caller> {
  (request: Request, connection: Connection): Who | undefined | Promise<Who | undefined>
  /** Returns the caller of a token that was verified before, at no cost. Default: none. */
  readonly recall?: ((request: Request) => Who | undefined) | undefined
  /**
   * Returns true if the token is signed, as a JSON Web Token is. Nobody can guess such a token. It is therefore still
   * verified for an address that has sent too many unknown tokens. Default: no token is signed.
   */
  readonly isSigned?: ((request: Request) => boolean) | undefined
}

/** Options that all of Muster's HTTP APIs share. */
export interface ApiOptions<Who extends Caller> {
  /** Identifies the caller. Returns undefined for an unknown caller. */
  readonly authenticate: Authenticate<Who>
  /** Prefix of every path, e.g. `/lobby-api`. Default none. */
  readonly basePath?: string | undefined
  /**
   * Finds the client's address. Behind a proxy, use `clientAddress({ trustedProxies })` of `@muster/core/http`.
   * Default: the peer address of the connection.
   */
  readonly address?: AddressOf | undefined
  /**
   * Where requests are counted for the limits of callers and addresses. Default: in memory of this process. With the
   * store of `@muster/redis`, all processes share the counts.
   */
  readonly limitStore?: LimitStore | undefined
  /** Lets pages of these origins call the API. Default: none. */
  readonly cors?: CorsOptions | undefined
  /** Called with unexpected errors. Default: a process warning. */
  readonly onError?: ((error: unknown) => void) | undefined
  readonly clock?: Clock | undefined
}

export interface HttpApiOptions<Table extends Routes, Who extends Caller> extends Omit<ApiOptions<Who>, 'limitStore'> {
  readonly routes: Table
  readonly handlers: Handlers<Table, Who>
  readonly clock: Clock
  /** Maximum size of a body in bytes, for all routes or for each by its name. */
  readonly maxBodyBytes: number | ((route: keyof Table & string) => number)
  /** Limits of unfinished bodies, by number and by time. Bodies of exempt callers do not count for their address. */
  readonly bodies?: BodyLimits | undefined
  /**
   * Throws a `Problem` if the caller has no access to the route, before the body is read. A route for anyone has no
   * caller, so the request itself must prove its right. Default: every caller may use every route.
   */
  readonly authorize?:
    | ((route: keyof Table & string, caller: Who | undefined, request: Request) => void | Promise<void>)
    | undefined
  /** Limits of requests. Default: none. */
  readonly limits?: RequestLimits<Who> | undefined
  /** Returns the problem for an error of the domain; undefined for other errors. */
  readonly problemOf?: ((error: unknown) => Problem | undefined) | undefined
  /**
   * Called with unexpected errors. The client gets only the status: 503 if a shared store is not available, otherwise
   * 500. Default: a process warning.
   */
  readonly onError?: ((error: unknown) => void) | undefined
}

/** Responses contain credentials and short-lived data, so they must not be cached. */
const ALWAYS = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' }
/** Headers of a response that sets its own `cache-control`. */
const ALWAYS_CACHED = { 'x-content-type-options': ALWAYS['x-content-type-options'] }
const ALWAYS_JSON = { 'content-type': 'application/json', ...ALWAYS }

const unavailable = () =>
  new Problem(503, 'unavailable', 'The server cannot answer now. Retry after 1 s.', { retryAfterMs: 1000 })
const internal = () => new Problem(500, 'internal-error', 'Internal error. The server log has the cause.')

/** A route with everything that is needed to serve it. */
interface ServedRoute {
  readonly isOpen: boolean
  readonly maxBytes: number
  readonly read: InputReader
  readonly handler: (input: unknown, exchange: unknown) => unknown
}

const NOTHING = new Uint8Array()

/** Creates an HTTP API from described routes and a handler for each route. */
export function createHttpApi<Table extends Routes, Who extends Caller>(
  options: HttpApiOptions<Table, Who>,
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
    onError = warnThat('a request'),
  } = options
  const match = createMatcher<keyof Table & string>(routes, options.basePath)
  const methods = methodsOf(routes)
  const { recall, isSigned } = authenticate
  const admission = createAdmission<Who>(options.limits ?? {}, clock)
  const bodies = createBodies({ ...options.bodies, clock })

  const served = new Map<string, ServedRoute>()
  for (const name of Object.keys(routes) as (keyof Table & string)[]) {
    served.set(name, {
      isOpen: isOpen(routes[name] as Routes[string]),
      maxBytes: typeof maxBodyBytes === 'number' ? maxBodyBytes : maxBodyBytes(name),
      read: inputReader(routes[name] as Operation),
      // The cast is safe, because the type of `handlers` matches each handler to its route.
      handler: options.handlers[name] as ServedRoute['handler'],
    })
  }

  const handle = async (request: Request, connection: Connection): Promise<Reply | Response> => {
    const target = targetOf(request)
    const preflightReply = cors && preflight(request, methods)
    if (preflightReply !== undefined) return withHeaders(preflightReply, ALWAYS)
    const address = addressOf(request, connection)
    const from = address === undefined ? UNKNOWN_ADDRESS : addressBlock(address)
    let found: Match<keyof Table & string>
    try {
      found = match(request.method === 'HEAD' ? 'GET' : request.method, target.pathname)
    } catch (error) {
      // Requests for unknown paths are limited too.
      await admission.anonymous(from)
      throw error
    }
    const { isOpen: needsNoCaller, maxBytes, read, handler } = served.get(found.name) as ServedRoute
    // Nothing is awaited before this line, so no piece of the body was missed.
    const body = bodies.begin(request, maxBytes, from)
    const caller = needsNoCaller
      ? await admission.anonymous(from)
      : await admission.caller(request, from, {
          authenticate: () => authenticate(request, connection),
          recall: recall && (() => recall(request)),
          isSigned: isSigned && (() => isSigned(request)),
        })
    // Count a declared size at once: a caller could send many large bodies before the first one has arrived.
    const declared = maxBytes > COUNTED_BYTES ? request.headers.get('content-length') : undefined
    const countBody = (bytes: number) => caller !== undefined && admission.countBody(caller, Math.min(bytes, maxBytes))
    if (typeof declared === 'string') countBody(Number(declared))
    // Await only a promise, because each `await` takes a turn of the microtask queue.
    const authorizing = authorize?.(found.name, caller, request)
    if (authorizing !== undefined) await authorizing
    if (caller !== undefined && admission.isExempt(caller)) body.trust()
    const whole = found.operation.method === 'GET' ? NOTHING : body.bytes()
    const bytes = whole instanceof Uint8Array ? whole : await whole
    if (declared === null) countBody(bytes.length)
    const result = handler(read(request, target, found.path, bytes), { caller, address, request })
    return replyOf(result instanceof Promise ? await result : result, found)
  }

  const problem = (error: unknown, request: Request): Problem => {
    const known = error instanceof Problem ? error : problemOf?.(error)
    if (known !== undefined) return known
    // The client has disconnected. The response has no reader, and no error needs to be reported.
    if (request.signal.aborted && error === request.signal.reason)
      return new Problem(499, 'client-gone', 'The client closed the connection.')
    callSafely(() => onError(error), warnThat('onError'))
    if (error instanceof StoreUnavailable) return unavailable()
    return internal()
  }

  const refusal = (error: unknown, request: Request): Reply => {
    let refused = internal()
    try {
      refused = problem(error, request)
    } catch {} // `problemOf` itself threw.
    const { headers, ...reply } = problemReply(refused)
    return { ...reply, headers: { ...headers, ...ALWAYS } }
  }

  const finish = (answer: Reply | Response, request: Request): Reply | Response => {
    const withCors = cors === undefined ? answer : withHeaders(answer, corsHeaders(cors, request))
    return request.method === 'HEAD' ? withoutBody(withCors) : withCors
  }

  return handlerOf(async (request, connection) => {
    try {
      return finish(await handle(request, connection), request)
    } catch (error) {
      return finish(refusal(error, request), request)
    }
  })
}

function withHeaders(answer: Reply | Response, more: Readonly<Record<string, string>>): Reply | Response {
  if (!(answer instanceof Response)) return { ...answer, headers: { ...answer.headers, ...more } }
  const headers = new Headers(answer.headers) // The headers of a redirect are immutable.
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

function replyOf(result: unknown, { operation }: Match): Reply | Response {
  if (result instanceof Response)
    return withHeaders(result, result.headers.has('cache-control') ? ALWAYS_CACHED : ALWAYS)
  const status = operation.success[0] as number
  return result === undefined
    ? { status, headers: ALWAYS, body: '' }
    : { status, headers: ALWAYS_JSON, body: JSON.stringify(result) }
}
