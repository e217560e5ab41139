import { StoreUnavailable } from '../client/errors.js'
import type { Clock } from '../time.js'
import { addressBlock } from '../ip.js'
import type { InputOf, Operation, OutputOf } from '../operation.js'
import { scrub } from '../redact.js'
import { type Caller, createAdmission, type RequestLimits, UNKNOWN_ADDRESS } from './admission.js'
import { type Connection, handlerOf, type HttpHandler, Problem, problemReply, type Reply } from './answers.js'
import { type BodyLimits, createBodies } from './bodies.js'
import { corsHeaders, type CorsOptions, preflight } from './cors.js'
import { createMatcher, inputReader, type InputReader, type Match, methodsOf, type Routes } from './input.js'
import { targetOf } from './lazy-request.js'
import { type AddressOf, clientAddress } from './request-headers.js'

/** Facts about a request besides its input. */
export interface Exchange<Who> {
  readonly caller: Who
  /** Canonical IP address of the client, if known. */
  readonly address: string | undefined
  readonly request: Request
}

/**
 * A handler's result: the body of the operation's usual answer (undefined if it has none), or any other answer.
 */
type Result<Body> = Body | Response | (undefined extends Body ? void : never)

/** A handler for every route; a missing one does not compile. Anonymous routes have no caller. */
export type Handlers<Table extends Routes, Who extends Caller, Anonymous extends keyof Table = never> = {
  readonly [Name in keyof Table]: (
    input: InputOf<Table[Name]>,
    exchange: Exchange<Name extends Anonymous ? undefined : Who>,
  ) => Result<OutputOf<Table[Name]>> | Promise<Result<OutputOf<Table[Name]>>>
}

/** Identifies the caller; undefined for an unknown one. A `Problem` that it throws becomes the answer. */
export interface Authenticate<Who extends Caller> {
  (request: Request, connection: Connection): Who | undefined | Promise<Who | undefined>
  /** The caller of a token that was verified before, if that is known at no cost. Default: none is. */
  readonly recall?: ((request: Request) => Who | undefined) | undefined
  /**
   * Whether the token is signed, as a JSON Web Token is. Such a token cannot be guessed, so it is still checked for an
   * address whose guesses are used up. Default: no token is.
   */
  readonly isSigned?: ((request: Request) => boolean) | undefined
}

export interface HttpApiOptions<Table extends Routes, Who extends Caller, Anonymous extends keyof Table & string> {
  readonly routes: Table
  readonly handlers: Handlers<Table, Who, Anonymous>
  /** Routes that need no caller. */
  readonly anonymous: readonly Anonymous[]
  readonly authenticate: Authenticate<Who>
  readonly clock: Clock
  /** Prefix of every path, e.g. `/lobby-api`. Default none. */
  readonly basePath?: string | undefined
  /** Largest body in bytes, for all routes or for each by its name. */
  readonly maxBodyBytes: number | ((route: keyof Table & string) => number)
  /** Limits of unfinished bodies and of their time. Bodies of exempt callers do not count for their address. */
  readonly bodies?: BodyLimits | undefined
  /**
   * Throws a `Problem` if the caller has no access to the route, before the body is read. Anonymous routes have no
   * caller: their proof is in the request. Default: every caller may use every route.
   */
  readonly authorize?:
    ((route: keyof Table & string, caller: Who | undefined, request: Request) => void | Promise<void>) | undefined
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
/** Of an answer that says itself how long it may be kept. */
const ALWAYS_CACHED = { 'x-content-type-options': ALWAYS['x-content-type-options'] }
const ALWAYS_JSON = { 'content-type': 'application/json', ...ALWAYS }

const unavailable = () =>
  new Problem(503, 'unavailable', 'The server cannot answer now. Retry after 1 s.', { retryAfterMs: 1000 })
const internal = () => new Problem(500, 'internal-error', 'Internal error. The server log has the cause.')

/** A route with all that serves it. */
interface Served {
  readonly isAnonymous: boolean
  readonly maxBytes: number
  readonly read: InputReader
  readonly handler: (input: unknown, exchange: unknown) => unknown
}

const NOTHING = new Uint8Array()

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
  const { recall, isSigned } = authenticate
  const anonymous = new Set<string>(options.anonymous)
  const admission = createAdmission<Who>(options.limits ?? {}, clock)
  const bodies = createBodies({ ...options.bodies, clock })

  const served = new Map<string, Served>()
  for (const name of Object.keys(routes) as (keyof Table & string)[]) {
    served.set(name, {
      isAnonymous: anonymous.has(name),
      maxBytes: typeof maxBodyBytes === 'number' ? maxBodyBytes : maxBodyBytes(name),
      read: inputReader(routes[name] as Operation),
      // The types of the handlers were checked where they were passed in.
      handler: options.handlers[name] as Served['handler'],
    })
  }

  const handle = async (request: Request, connection: Connection): Promise<Reply | Response> => {
    const target = targetOf(request)
    const asked = cors && preflight(request, methods)
    if (asked !== undefined) return withHeaders(asked, ALWAYS)
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
    const { isAnonymous, maxBytes, read, handler } = served.get(found.name) as Served
    // Nothing is awaited before this, so that no piece of the body has come.
    const body = bodies.begin(request, maxBytes, from)
    const caller = isAnonymous
      ? await admission.anonymous(from)
      : await admission.caller(request, from, {
          authenticate: () => authenticate(request, connection),
          recall: recall && (() => recall(request)),
          isSigned: isSigned && (() => isSigned(request)),
        })
    await authorize?.(found.name, caller, request)
    if (caller !== undefined && admission.isExempt(caller)) body.trust()
    const bytes = found.operation.method === 'GET' ? NOTHING : await body.bytes()
    return replyOf(await handler(read(request, target, found.path, bytes), { caller, address, request }), found)
  }

  const problem = (error: unknown, request: Request): Problem => {
    const known = error instanceof Problem ? error : problemOf?.(error)
    if (known !== undefined) return known
    // The client has disconnected: nobody reads the answer, and there is no error.
    if (request.signal.aborted && error === request.signal.reason)
      return new Problem(499, 'client-gone', 'The client closed the connection.')
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
    const withCors = cors === undefined ? answer : withHeaders(answer, corsHeaders(cors, request))
    return request.method === 'HEAD' ? withoutBody(withCors) : withCors
  }

  return handlerOf((request, connection) =>
    handle(request, connection)
      .then((answer) => finish(answer, request))
      .catch((error: unknown) => finish(refusal(error, request), request)),
  )
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

function replyOf(result: unknown, { operation }: Match): Reply | Response {
  if (result instanceof Response)
    return withHeaders(result, result.headers.has('cache-control') ? ALWAYS_CACHED : ALWAYS)
  const status = operation.success[0] as number
  return result === undefined
    ? { status, headers: ALWAYS, body: '' }
    : { status, headers: ALWAYS_JSON, body: JSON.stringify(result) }
}

function warn(error: unknown): void {
  process.emitWarning(`a request failed: ${scrub(String(error))}`, 'MusterWarning')
}
