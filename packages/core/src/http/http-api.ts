import type { Clock } from '../clock.js'
import type { InputOf, OutputOf } from '../operation.js'
import { scrub } from '../redact.js'
import { createAttempts, type AttemptLimit } from './attempts.js'
import { clientAddress, type AddressOf, type Connection } from './client-address.js'
import { corsHeaders, preflight, type CorsOptions } from './cors.js'
import { readInput } from './input.js'
import { Problem, problemResponse } from './problem.js'
import { createMatcher, methodsOf, type Match, type Routes } from './routes.js'

/** Whoever was authenticated. */
export interface Caller {
  /** Says who it is, to the rate limit at least. */
  readonly id: string
}

/** What a handler knows about a request besides its input. */
export interface Exchange<Who> {
  readonly caller: Who
  /** Canonical IP address of the client, if known. */
  readonly address: string | undefined
  readonly request: Request
}

/** The body of the operation's usual answer (nothing, where it has none), or any other answer. */
type Result<Body> = Body | Response | (undefined extends Body ? void : never)

/** A function for every route; one that is missing does not compile. Anonymous routes have no caller. */
export type Handlers<Table extends Routes, Who extends Caller, Anonymous extends keyof Table = never> = {
  readonly [Name in keyof Table]: (
    input: InputOf<Table[Name]>,
    exchange: Exchange<Name extends Anonymous ? undefined : Who>,
  ) => Result<OutputOf<Table[Name]>> | Promise<Result<OutputOf<Table[Name]>>>
}

/** Who calls; undefined for nobody known. A `Problem` that it throws is the answer. */
export type Authenticate<Who extends Caller> = (request: Request, connection: Connection) => Who | undefined | Promise<Who | undefined>

/** `(Request) → Promise<Response>`, which never rejects. Servers that know the socket say so in `connection`. */
export type HttpHandler = (request: Request, connection?: Connection) => Promise<Response>

export interface HttpApiOptions<Table extends Routes, Who extends Caller, Anonymous extends keyof Table & string> {
  readonly routes: Table
  readonly handlers: Handlers<Table, Who, Anonymous>
  /** Routes that anybody may call. */
  readonly anonymous: readonly Anonymous[]
  readonly authenticate: Authenticate<Who>
  readonly clock: Clock
  /** What stands before every path, e.g. `/lobby-api`. Default nothing. */
  readonly basePath?: string | undefined
  /** Bytes of the largest body that is read. */
  readonly maxBodyBytes: number
  /** Finds the client's address. Default: the socket's other end. */
  readonly address?: AddressOf | undefined
  /** Requests that one caller, and one address, may make. Default no limit. */
  readonly limits?: { readonly perCaller?: AttemptLimit | undefined; readonly perAddress?: AttemptLimit | undefined } | undefined
  /** Lets pages of other origins call. Default none. */
  readonly cors?: CorsOptions | undefined
  /** The problem that an error of the domain is; undefined for an error that is none of its own. */
  readonly problemOf?: ((error: unknown) => Problem | undefined) | undefined
  /** Told of errors that nobody expected; the client is told 500 and no more. Default: a process warning. */
  readonly onError?: ((error: unknown) => void) | undefined
}

/** Answers hold credentials and what changes any moment. */
const ALWAYS = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' }

const internal = () => new Problem(500, 'internal-error', 'something went wrong here')

/** Makes an HTTP API of described routes and a handler for each. */
export function createHttpApi<Table extends Routes, Who extends Caller, Anonymous extends keyof Table & string>(
  options: HttpApiOptions<Table, Who, Anonymous>,
): HttpHandler {
  const { routes, authenticate, clock, maxBodyBytes, cors, address: addressOf = clientAddress(), problemOf, onError = warn } = options
  const match = createMatcher<keyof Table & string>(routes, options.basePath)
  const methods = methodsOf(routes)
  const anonymous = new Set<string>(options.anonymous)
  const admitCaller = admission(options.limits?.perCaller, clock)
  const admitAddress = admission(options.limits?.perAddress, clock)

  const answer = async (request: Request, connection: Connection): Promise<Response> => {
    const url = new URL(request.url)
    const asked = cors && preflight(request, methods)
    if (asked !== undefined) return asked
    const address = addressOf(request, connection)
    if (address !== undefined) admitAddress(address)
    const found = match(request.method === 'HEAD' ? 'GET' : request.method, url.pathname)
    const caller = anonymous.has(found.name) ? undefined : await identify(request, connection)
    if (caller !== undefined) admitCaller(caller.id)
    const input = await readInput(found, request, url, maxBodyBytes)
    // The types of the handlers were checked where they were given.
    const handle = options.handlers[found.name] as (input: unknown, exchange: unknown) => unknown
    return respond(found, await handle(input, { caller, address, request }))
  }

  const identify = async (request: Request, connection: Connection): Promise<Who> => {
    const caller = await authenticate(request, connection)
    if (caller !== undefined && caller !== null) return caller
    throw new Problem(401, 'unauthorized', 'it is not known who calls', { headers: { 'www-authenticate': 'Bearer' } })
  }

  const problem = (error: unknown, { signal }: Request): Problem => {
    const known = error instanceof Problem ? error : problemOf?.(error)
    if (known !== undefined) return known
    // Nobody reads the answer, and nothing went wrong.
    if (signal.aborted && error === signal.reason) return new Problem(499, 'client-gone', 'the client went away')
    onError(error)
    return internal()
  }

  const refusal = (error: unknown, request: Request): Response => {
    try {
      return problemResponse(problem(error, request))
    } catch {
      return problemResponse(internal()) // problemOf or onError failed
    }
  }

  return async (request, connection = {}) => {
    const answered = await answer(request, connection).catch((error: unknown) => refusal(error, request))
    const headers = new Headers(answered.headers) // those of a redirect cannot be changed
    for (const [name, value] of Object.entries(ALWAYS)) headers.set(name, value)
    if (cors !== undefined) for (const [name, value] of Object.entries(corsHeaders(cors, request))) headers.append(name, value)
    if (request.method === 'HEAD') await answered.body?.cancel().catch(() => {})
    return new Response(request.method === 'HEAD' ? null : answered.body, { status: answered.status, headers })
  }
}

/** @returns a function that throws once a key has made too many requests. */
function admission(limit: AttemptLimit | undefined, clock: Clock): (key: string) => void {
  if (limit === undefined) return () => {}
  const attempts = createAttempts({ ...limit, clock })
  return (key) => {
    const retryAfterMs = attempts.take(key)
    if (retryAfterMs > 0) throw new Problem(429, 'too-many-requests', 'too many requests', { retryAfterMs })
  }
}

function respond({ operation }: Match, result: unknown): Response {
  if (result instanceof Response) return result
  const init = { status: operation.success[0] as number }
  return result === undefined ? new Response(null, init) : Response.json(result, init)
}

function warn(error: unknown): void {
  process.emitWarning(`a request failed: ${scrub(String(error))}`, 'MusterWarning')
}
