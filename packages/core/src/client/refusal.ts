import { scrub, secretsIn } from '../redact.js'
import { jsonIn } from '../validation/index.js'
import {
  AlreadyTerminated,
  Conflict,
  DependencyFailed,
  Forbidden,
  InvalidInput,
  type MusterError,
  NoCapacity,
  NotFound,
  RateLimited,
  RouteMissing,
  ServerError,
  Unauthorized,
  UnexpectedResponse,
} from './errors.js'
import { factsOf, type Request } from './request.js'
import type { HttpAnswer } from './transport.js'

/**
 * Returns the wait of a response's Retry-After header in milliseconds. The header holds seconds or an HTTP date. A date
 * is compared with the response's own Date, if present, so that clock differences between client and service do not
 * matter. Returns undefined without a readable Retry-After. Pure.
 */
export function retryAfterMs(
  headers: { readonly retryAfter: string | undefined; readonly date: string | undefined },
  now: number,
): number | undefined {
  const wish = headers.retryAfter?.trim() ?? ''
  if (/^\d+(\.\d+)?$/.test(wish)) return Math.ceil(Number(wish) * 1000)
  const until = httpDate(wish)
  if (until === undefined) return undefined
  return Math.max(0, until - (httpDate(headers.date) ?? now))
}

/**
 * Returns the epoch milliseconds of a date in one of the three forms of HTTP (RFC 9110, 5.6.7), such as 'Wed, 21 Oct
 * 2026 07:28:00 GMT'. Date.parse alone would accept almost any string.
 */
function httpDate(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  // The form of asctime(3) names no zone, and means UTC.
  const isAsctime = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}$/.test(text)
  if (!isAsctime && !/^[A-Z][a-z]{2,8}, .+ GMT$/.test(text)) return undefined
  const instant = Date.parse(isAsctime ? `${text} GMT` : text)
  return Number.isNaN(instant) ? undefined : instant
}

/** Maximum length of a server's message that an error repeats. */
const LONGEST_MESSAGE = 500

/** Makes the error for an unsuccessful response. It has the service's message without secrets and addresses. Pure. */
export function refusal(
  request: Pick<Request, 'id' | 'call' | 'input' | 'progress' | 'operation' | 'template'>,
  answer: HttpAnswer,
  now: number,
): MusterError {
  const { status } = answer
  const body = parsed(answer.body)
  const said = messageOf(body, answer.body)
  const known = factsOf(request)
  const facts = { ...known, status, requestId: known.requestId ?? deploymentIn(body, request) }
  const tell = (what: string) => {
    const message = withoutSecretsOf(request, said).slice(0, LONGEST_MESSAGE)
    return `${request.id}: ${what} (status ${status})${message === '' ? '' : `: ${message}`}`
  }
  const waiting = () => ({
    ...facts,
    retryAfterMs: retryAfterMs({ retryAfter: headerOf(answer, 'retry-after'), date: headerOf(answer, 'date') }, now),
  })

  // Proxies answer 408 and 425 to a request that they did not pass on, or not completely.
  if (status >= 500 || status === 408 || status === 425)
    return new ServerError(tell(status >= 500 ? 'the service failed' : 'the request was not served'), waiting())
  if (status >= 300 && status < 400) {
    // Only the origin of a redirect is shown, because the rest may repeat secrets of the request.
    const origin = originOf(headerOf(answer, 'location'))
    const secrets = [request.progress.token ?? '', ...secretsIn(request.input)].filter((secret) => secret !== '')
    const target = secrets.some((secret) => origin.toLowerCase().includes(secret.toLowerCase())) ? '' : origin
    return new UnexpectedResponse(
      `${request.id}: redirected (status ${status})${target}; redirects are not followed`,
      facts,
    )
  }
  if (stops.has(request.id) && /already\s+terminated/i.test(said)) {
    return new AlreadyTerminated(tell('the deployment is already terminated'), facts)
  }
  if (isNotOfApi(request, status, body))
    return new RouteMissing(
      tell(
        'the answer does not come from the API: baseUrl may be wrong, or have no ' +
          `${request.operation.method} ${request.template}`,
      ),
      waiting(),
    )
  if (status === 400 && body !== undefined && namesDeployment.has(request.id) && saysUnknown.test(said))
    return new NotFound(tell('no such deployment'), facts)
  if (status === 422 && creates.has(request.id)) return new NoCapacity(tell("couldn't allocate a server"), facts)
  if (status === 429) return new RateLimited(tell('too many requests'), waiting())
  const [Refusal, what] = REFUSALS[status] ?? [UnexpectedResponse, 'an undocumented status']
  return new Refusal(tell(what), facts)
}

const REFUSALS: Readonly<Record<number, readonly [typeof MusterError, what: string]>> = {
  400: [InvalidInput, 'the service refused the input'],
  401: [Unauthorized, 'the token is missing, wrong or expired'],
  403: [Forbidden, 'not allowed with this token'],
  404: [NotFound, 'not found'],
  409: [Conflict, 'conflict'],
  410: [AlreadyTerminated, 'already terminated'],
  422: [InvalidInput, 'the service refused the input'],
  424: [DependencyFailed, 'something the service depends on failed'],
}

/**
 * True if an error response says nothing about the named object:
 * - its body is not JSON with a message, as every error of the API has,
 * - its message is about the route, or
 * - the operation names no object that could be missing.
 *
 * The service's message for an unknown route is not documented, so the messages of usual servers and gateways are
 * recognized.
 */
function isNotOfApi(
  { operation }: Pick<Request, 'operation'>,
  status: number,
  body: Readonly<Record<string, unknown>> | undefined,
): boolean {
  if (status === 405) return true
  if (status !== 404 && status !== 410) return false
  const { message, detail, details, error } = body ?? {}
  const said = [message, detail, details, error].filter((part) => typeof part === 'string' && part !== '')
  if (said.length === 0 || said.some((part) => saysNoRoute.test(part as string))) return true
  // Only `message` is documented. Frameworks use the other keys, and their texts do not say what is missing.
  if (typeof message !== 'string' && said.every((part) => saysNothing.test(part as string))) return true
  return operation.pathKeys.length === 0 && !(operation.errors as readonly number[]).includes(status)
}

/**
 * Messages for an unknown route: of Flask, the emulator, Express and Nest, Kong, Go; then of API gateways and mux
 * routers.
 */
const saysNoRoute = new RegExp(
  [
    'requested url',
    'no operation at this path',
    'cannot (get|post|put|patch|delete) /',
    'no (route|static resource)|no such (route|path|endpoint)',
    '(route|page|path|endpoint) not found',
  ].join('|'),
  'i',
)
const saysNothing = /^(404 )?not found\.?$/i

/** Maximum length of an id. A longer string does not count as an id. */
const LONGEST_ID = 200
/** Minimum length of a secret that is searched for in an id. A shorter secret may be part of an id by chance. */
const SHORTEST_TELLING_SECRET = 8

/**
 * Returns the id of the deployment that a response names, so that it can be stopped. Returns undefined if the id
 * contains a secret or an address.
 */
function deploymentIn(
  body: Readonly<Record<string, unknown>> | undefined,
  { input, progress }: Pick<Request, 'input' | 'progress'>,
) {
  const id = body?.['request_id']
  if (typeof id !== 'string' || id.length > LONGEST_ID) return undefined
  const secrets = [progress.token ?? '', ...secretsIn(input)]
  const telling = secrets.filter(
    (secret) => secret.length >= SHORTEST_TELLING_SECRET || secret.toLowerCase() === id.toLowerCase(),
  )
  return scrub(id, telling) === id ? id : undefined
}

const creates: ReadonlySet<string> = new Set(['deployments.create', 'deployments.deployLegacy'])
const stops: ReadonlySet<string> = new Set(['deployments.stop', 'deployments.selfStop'])
/** Operations that were seen to answer 400 instead of 404 for an unknown request_id (public fact). */
const namesDeployment: ReadonlySet<string> = new Set(['deployments.get', 'deployments.stop', 'deployments.selfStop'])
/** `Unknown error` and `unknown parameter` are not about the deployment. */
const saysUnknown = new RegExp(
  [
    'not found|no such|not exist|n.t exist|not find|n.t find',
    'unknown(?! +(error|exception|failure|problem|reason|parameter|field|argument|option|query|key|value))',
  ].join('|'),
  'i',
)

function parsed(body: string): Readonly<Record<string, unknown>> | undefined {
  const value = jsonIn(body)
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : undefined
}

/** Returns the strings `message` and, if present, `details`; or a short body that is neither JSON nor markup. */
function messageOf(json: Readonly<Record<string, unknown>> | undefined, body: string): string {
  if (json === undefined)
    return /^\s*(?:[<"[{]|null\s*$)/.test(body) || body.length > LONGEST_MESSAGE ? '' : body.trim()
  return [json['message'], json['details']].filter((part) => typeof part === 'string').join(' – ')
}

/** Removes the request's secrets from a text of the service. */
export function withoutSecretsOf({ input, progress }: Pick<Request, 'input' | 'progress'>, said: string): string {
  return scrub(said, [progress.token ?? '', ...secretsIn(input)])
}

/** Returns the first value of a header. */
export function headerOf(answer: HttpAnswer, name: string): string | undefined {
  const value = answer.headers[name]
  return typeof value === 'string' ? value : value?.[0]
}

/** Returns the origin of a redirect's target. The rest is omitted, because it may contain anything. */
function originOf(location: string | undefined): string {
  if (location === undefined || !URL.canParse(location)) return ''
  const { origin } = new URL(location)
  return origin === 'null' ? '' : ` to ${origin}`
}
