import { z } from 'zod'
import { Deployment } from '../api/deployment.js'
import { RelaySession } from '../api/relays.js'
import { InvalidInput } from './errors.js'
import { invalid } from './invalid.js'

/** A body as it arrived: text, bytes, or what a framework has already made of the JSON. */
export type WebhookBody = string | Uint8Array | Readonly<Record<string, unknown>>

export interface WebhookOptions {
  /** Largest body that is read, in bytes. Default 1 MiB. */
  readonly maxBytes?: number | undefined
}

/** The status view as a webhook carries it: only `request_id` is certain. */
export type DeploymentHint = Pick<Deployment, 'request_id'> & Partial<Deployment>

const OnlyId = z.object({ request_id: z.string().min(1) })

/**
 * Reads the body of a deployment's webhook (ready, error or terminated): by a public fact, the status view.
 * If it is not, what remains is the `request_id`.
 *
 * Webhooks are neither signed nor repeated, so what this returns is a hint that something happened to
 * `request_id`, not a fact: read the status before acting on it. It may also come before the create call
 * has returned.
 *
 * @throws {InvalidInput} when the body is too large, is not JSON, or names no deployment.
 */
export function parseDeploymentWebhook(body: WebhookBody, options?: WebhookOptions): DeploymentHint {
  return read('deployment webhook', z.union([Deployment, OnlyId]), body, options)
}

/**
 * Reads the body of a relay session's webhook, presumably the session (an unsure public fact). A hint, as
 * above: read the session before acting on it. It holds secrets, the users' tokens.
 *
 * @throws {InvalidInput} when the body is too large, is not JSON, or names no session.
 */
export function parseRelayWebhook(body: WebhookBody, options?: WebhookOptions): RelaySession {
  return read('relay webhook', RelaySession, body, options)
}

function read<T>(what: string, schema: z.ZodType<T>, body: WebhookBody, { maxBytes = 2 ** 20 }: WebhookOptions = {}): T {
  const refuse = (why: string) => new InvalidInput(`${what}: the body ${why}`, { field: 'body' })
  const json = typeof body === 'string' || body instanceof Uint8Array ? parse(body, maxBytes, refuse) : body
  const result = schema.safeParse(json)
  if (!result.success) throw invalid(`${what}: body`, json, result.error)
  return result.data
}

function parse(body: string | Uint8Array, maxBytes: number, refuse: (why: string) => InvalidInput): unknown {
  if (Buffer.byteLength(body) > maxBytes) throw refuse(`is larger than ${maxBytes} bytes`)
  const text = typeof body === 'string' ? body : new TextDecoder().decode(body)
  try {
    return JSON.parse(text)
  } catch {
    throw refuse('is not JSON') // the parser's message quotes the body
  }
}
