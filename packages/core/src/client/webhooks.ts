import { createHmac, timingSafeEqual } from 'node:crypto'
import { dateOf, systemClock } from '../time.js'
import { InvalidInput } from './errors.js'

/** A body as received: a string, bytes, or JSON that a framework has parsed. */
export type WebhookBody = string | Uint8Array | Readonly<Record<string, unknown>>

export interface WebhookOptions {
  /** Maximum size of a body in bytes. Default 1 MiB. */
  readonly maxBytes?: number | undefined
}

/** Indicates that something happened to a deployment. */
export interface DeploymentHint {
  readonly request_id: string
  /** The status in the body, e.g. `Status.READY`. */
  readonly current_status: string | undefined
}

/** Indicates that something happened to a relay session. */
export interface RelayHint {
  readonly session_id: string
  /** True if the body states that the session is ready. */
  readonly ready: boolean | undefined
}

/**
 * Reads the body of a deployment's webhook (ready, error or terminated). The body is the status view (public fact).
 *
 * Webhooks are neither signed nor repeated, so the result is only a hint. Read the status before acting on it, and do
 * not use its addresses. The webhook may arrive before the create call has returned.
 *
 * @throws {InvalidInput} if the body is too large, is not JSON, or names no deployment; or if an option is invalid.
 */
export function parseDeploymentWebhook(body: WebhookBody, options?: WebhookOptions): DeploymentHint {
  const view = read('deployment webhook', body, options)
  const status = view['current_status']
  return {
    request_id: name(view, 'request_id', 'deployment webhook'),
    current_status: typeof status === 'string' ? status : undefined,
  }
}

/**
 * Reads the body of a relay session's webhook, presumably the session (an unsure public fact). Like a deployment's
 * webhook, it is only a hint. Read the session before acting on it.
 *
 * @throws {InvalidInput} if the body is too large, is not JSON, or names no session; or if an option is invalid.
 */
export function parseRelayWebhook(body: WebhookBody, options?: WebhookOptions): RelayHint {
  const session = read('relay webhook', body, options)
  const ready = session['ready']
  return {
    session_id: name(session, 'session_id', 'relay webhook'),
    ready: typeof ready === 'boolean' ? ready : undefined,
  }
}

/** The result of a match, as Muster posts it to the `results.url` of its configuration: docs/servers.md. */
export interface ResultWebhook {
  readonly type: 'match.over'
  /** The same id for each delivery of one result. */
  readonly id: string
  /** Time at which the match ended, in ISO 8601. */
  readonly timestamp: string
  readonly data: {
    readonly match_id: string
    /** Name of the queue. */
    readonly profile: string
    /** How the match ended, e.g. `over` if its server reported it; docs/servers.md lists the values. */
    readonly reason: string
    /** Ids of all players of the match. */
    readonly player_ids: readonly string[]
    /** Players who left before the end, and when (in ISO 8601). */
    readonly left: readonly { readonly player_id: string; readonly at: string }[]
    /**
     * Ranks, the best players first. Players in one list share a rank. Null unless the server has reported a ranking.
     */
    readonly ranking: readonly (readonly string[])[] | null
    /** Further data that the server reported. */
    readonly data: unknown
    /**
     * The origin of the match's server: `enrolled` for a server that Muster has not started, or a name of `sources`.
     * Null if it came from the deployment service, or if it is no longer known.
     */
    readonly source: string | null
    /**
     * For an enrolled server: the id of its key. The key may be stolen; see docs/own-machines.md. Null for other
     * servers.
     */
    readonly enrolment_key: string | null
  }
}

/** Headers of a request, of `fetch` or Node.js. */
type GivenHeaders = Pick<Headers, 'get'> | Readonly<Record<string, string | readonly string[] | undefined>>

/** Maximum age of a delivery in seconds. An older delivery counts as a replay (Standard Webhooks: five minutes). */
const TOLERANCE_SECONDS = 300

/**
 * Reads the POST of a result, and verifies Muster's signature, as in Standard Webhooks (our choice). A result is sent
 * again if the response was lost, so process each `id` only once.
 *
 * @param secret the secret of `results` in the configuration: `whsec_` and base64
 * @param body the raw body. Parsed JSON does not work, because the signature covers the bytes
 * @param now epoch milliseconds. Default: the wall clock
 * @throws {InvalidInput} whose `field` is the invalid header or part. Respond with 401 then
 * @example const { data } = parseResultWebhook(secret, request.headers, await request.text())
 */
export function parseResultWebhook(
  secret: string,
  headers: GivenHeaders,
  body: string | Uint8Array,
  now = dateOf(systemClock),
): ResultWebhook {
  const what = 'result webhook'
  const refuse = (field: string, message: string) => new InvalidInput(`${what}: ${field}: ${message}`, { field })
  if (!isWebhookSecret(secret)) throw refuse('secret', 'must be whsec_ followed by at least 24 bytes in base64')
  const header = (key: string): string => {
    const value = 'get' in headers && typeof headers.get === 'function' ? headers.get(key) : valueIn(headers, key)
    if (typeof value !== 'string' || value === '') throw refuse(key, 'is missing')
    return value
  }
  const [id, seconds, given] = [header('webhook-id'), header('webhook-timestamp'), header('webhook-signature')]
  if (!(Math.abs(now / 1000 - Number(seconds)) <= TOLERANCE_SECONDS))
    throw refuse('webhook-timestamp', `must be within ${TOLERANCE_SECONDS} seconds of now`)
  const text = typeof body === 'string' ? body : new TextDecoder().decode(body)
  const wanted = Buffer.from(webhookSignature(secret, { id, seconds, body: text }))
  // There are several signatures while a secret is rotated.
  const isSigned = given.split(' ').some((one) => {
    const bytes = Buffer.from(one)
    return bytes.length === wanted.length && timingSafeEqual(bytes, wanted)
  })
  if (!isSigned) throw refuse('webhook-signature', 'is not that of this secret and body')
  const result = read(what, text)
  if (result['type'] !== 'match.over') throw refuse('type', 'must be match.over')
  return result as unknown as ResultWebhook
}

const valueIn = (headers: object, key: string) =>
  Object.entries(headers).find(([given]) => given.toLowerCase() === key)?.[1] as unknown

const SECRET_PREFIX = 'whsec_'
const secretBytes = (secret: string) => Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64')

/** True if a string is a secret of Standard Webhooks: `whsec_` and at least 24 bytes in base64. */
export const isWebhookSecret = (secret: string): boolean =>
  secret.startsWith(SECRET_PREFIX) && secretBytes(secret).length >= 24

/** Returns the value of the header `webhook-signature`. @param delivery `seconds`: epoch seconds as a string */
export const webhookSignature = (
  secret: string,
  { id, seconds, body }: { readonly id: string; readonly seconds: string; readonly body: string },
): string => `v1,${createHmac('sha256', secretBytes(secret)).update(`${id}.${seconds}.${body}`).digest('base64')}`

function read(
  what: string,
  body: WebhookBody,
  { maxBytes = 2 ** 20 }: WebhookOptions = {},
): Readonly<Record<string, unknown>> {
  if (!(Number.isSafeInteger(maxBytes) && maxBytes > 0)) {
    throw new InvalidInput(
      `${what}: option maxBytes must be a whole number of bytes above 0, got ${String(maxBytes)}`,
      { field: 'maxBytes' },
    )
  }
  const json = typeof body === 'string' || body instanceof Uint8Array ? parse(what, body, maxBytes) : body
  if (typeof json !== 'object' || json === null || Array.isArray(json)) throw invalidBody(what, 'is not a JSON object')
  return json as Readonly<Record<string, unknown>>
}

function parse(what: string, body: string | Uint8Array, maxBytes: number): unknown {
  if (Buffer.byteLength(body) > maxBytes) throw invalidBody(what, `is larger than ${maxBytes} bytes`)
  try {
    // A byte order mark is not part of JSON. TextDecoder removes it.
    return JSON.parse(typeof body === 'string' ? body.replace(/^\u{feff}/u, '') : new TextDecoder().decode(body))
  } catch {
    throw invalidBody(what, 'is not JSON') // the parser's message quotes the body
  }
}

function name(json: Readonly<Record<string, unknown>>, key: string, what: string): string {
  const value = json[key]
  if (typeof value !== 'string' || value === '') throw invalidBody(what, `has no ${key}`, key)
  return value
}

const invalidBody = (what: string, why: string, field = 'body') =>
  new InvalidInput(`${what}: the body ${why}`, { field })
