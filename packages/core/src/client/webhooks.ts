import { InvalidInput } from './errors.js'

/** A body as it arrived: text, bytes, or JSON that a framework has parsed. */
export type WebhookBody = string | Uint8Array | Readonly<Record<string, unknown>>

export interface WebhookOptions {
  /** Largest body accepted, in bytes. Default 1 MiB. */
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
  /** Whether the body says that the session is ready. */
  readonly ready: boolean | undefined
}

/**
 * Reads the body of a deployment's webhook (ready, error or terminated): the status view (public fact).
 *
 * Webhooks are neither signed nor repeated, so the result is only a hint: read the status before acting on it, and take
 * no address from it. It may arrive before the create call has returned.
 *
 * @throws {InvalidInput} when the body is too large, is not JSON, or names no deployment; or when an option is wrong.
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
 * webhook it is only a hint: read the session before acting on it.
 *
 * @throws {InvalidInput} when the body is too large, is not JSON, or names no session; or when an option is wrong.
 */
export function parseRelayWebhook(body: WebhookBody, options?: WebhookOptions): RelayHint {
  const session = read('relay webhook', body, options)
  const ready = session['ready']
  return {
    session_id: name(session, 'session_id', 'relay webhook'),
    ready: typeof ready === 'boolean' ? ready : undefined,
  }
}

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
    return JSON.parse(typeof body === 'string' ? body : new TextDecoder().decode(body))
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
