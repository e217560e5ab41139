import {
  type CallOptions,
  Forbidden,
  InvalidInput,
  type MusterError,
  NoCapacity,
  RateLimited,
  RouteMissing,
  SendAborted,
  ServerError,
  TimedOut,
  Unauthorized,
  UnexpectedResponse,
} from '@muster/core'
import { type Clock, dateOf, type Random, systemClock } from '@muster/core/clock'
import {
  type HttpAnswer,
  createTransport,
  headerOf,
  isWebhookSecret,
  jsonIn,
  linkedSignal,
  newId,
  read,
  retryAfterMs,
  scrub,
  unguessable,
  webhookSignature,
} from '@muster/core/internal'
import { z } from 'zod'
import { readAllocated } from './read-allocated.js'
import type { AllocatedServer, ServerAllocator, WantedServer } from './server-allocator.js'

export interface HttpAllocatorOptions {
  /** An http or https URL. The allocator accepts POSTs at `/allocate`, `/poll` and `/stop` below it. */
  readonly url: string
  /** Secret of at least 24 bytes for the signature of each POST (Standard Webhooks): `whsec_` and base64. */
  readonly secret: string
  /** Timeout of a call in milliseconds, from 1. Maximum and default: 30,000, for a poll 10,000, for a stop 20,000. */
  readonly timeoutMs?: number | undefined
  /** See `ServerAllocator.lagMs`. */
  readonly lagMs?: number | undefined
  readonly clock?: Clock | undefined
  /** Random source for the ids of requests. Default: a cryptographic one. */
  readonly random?: Random | undefined
}

/** An allocator that is called over HTTP. Calls after `close` are rejected. */
export interface HttpAllocator extends ServerAllocator {
  /** Closes all connections. */
  close(): Promise<void>
}

const optionsSchema = z.object({
  url: z.url({ protocol: /^https?$/, error: 'must be an http or https URL' }),
  secret: z.string().refine(isWebhookSecret, 'must be whsec_ followed by at least 24 bytes in base64'),
  timeoutMs: z.number().min(1).optional(),
  lagMs: z.number().min(0).optional(),
})

/** Maximum number of connections, and bytes of a response (our choices): a poll of 100 servers of 10 KB each. */
const CONNECTIONS = 16
const LARGEST_ANSWER = 2 ** 20
const LONGEST_DETAIL = 500
const TIMEOUT_MS = 30_000

const answerSchema = z.object({ servers: z.array(z.unknown()) })

type AllocatorCall = 'allocate' | 'poll' | 'stop'

/**
 * Calls an allocator over HTTP. Each call is a signed POST of JSON, see docs/any-hoster.md. Unknown members of a
 * response are ignored. A response without the list of servers rejects with `UnexpectedResponse`, so that no server
 * counts as ended. No error contains the secret or a server's environment variables.
 * @throws {InvalidInput} with `field`, if an option is invalid
 */
export function createHttpAllocator(options: HttpAllocatorOptions): HttpAllocator {
  const checked = read(optionsSchema, options, (field, message) => new InvalidInput(message, { field }))
  const { clock = systemClock, random = unguessable } = options
  const base = new URL(checked.url)
  const path = base.pathname.replace(/\/$/, '')
  const transport = createTransport({
    origin: base.origin,
    connections: CONNECTIONS,
    maxResponseBytes: LARGEST_ANSWER,
  })

  const post = async (call: AllocatorCall, content: object, given: CallOptions): Promise<HttpAnswer> => {
    const { timeoutMs = TIMEOUT_MS, signal } = given
    const withinMs = Math.min(timeoutMs, checked.timeoutMs ?? Infinity)
    // The signature covers the body and not the path, so the body names the path.
    const body = JSON.stringify({ type: call, ...content })
    const [id, seconds] = [`msg_${newId(random)}`, String(Math.floor(dateOf(clock) / 1000))]
    const ending = linkedSignal(signal)
    let sent = false
    const facts = () => ({ operation: call })
    const late = () =>
      new TimedOut(`${call}: no answer within ${withinMs} ms`, { ...facts(), sent, timeoutMs: withinMs })
    const timer = new AbortController()
    clock.sleep(withinMs, timer.signal).then(
      () => ending.abort(late()),
      () => {},
    )
    const headers = {
      accept: 'application/json',
      'content-type': 'application/json',
      'user-agent': 'muster',
      'webhook-id': id,
      'webhook-timestamp': seconds,
      'webhook-signature': webhookSignature(checked.secret, { id, seconds, body }),
    }
    try {
      return await transport.exchange(
        {
          lane: call,
          method: 'POST',
          path: `${path}/${call}${base.search}`,
          headers: Object.entries(headers).flat(),
          body,
        },
        {
          facts,
          signal: ending.signal,
          objection: () =>
            given.mayWrite?.() === false
              ? new SendAborted(`${call}: not sent, because mayWrite returned false`, { ...facts(), sent })
              : undefined,
          sending: () => {
            sent = true
          },
          written: () => {},
          answered: () => {},
        },
      )
    } finally {
      timer.abort()
      ending.unlink()
    }
  }

  /** Sends a call. @param secrets strings that no error may contain. @throws if the status is not 2xx */
  const ask = async (call: AllocatorCall, content: object, given: CallOptions, secrets: readonly string[] = []) => {
    const answer = await post(call, content, given)
    if (answer.status < 200 || answer.status > 299) throw refusal(call, answer, secrets, dateOf(clock))
    return answer
  }

  return {
    url: checked.url,
    lagMs: checked.lagMs,
    allocate: async (wanted, given) => void (await ask('allocate', wanted, given, secretsOf(wanted))),
    poll: async (ids, given) => readServers(ids, await ask('poll', { ids }, given)),
    stop: async (id, given) => void (await ask('stop', { id }, given)),
    close: transport.close,
  }
}

/** Minimum number of characters of a variable that counts as a secret. Shorter values may be ordinary words. */
const SHORTEST_SECRET = 8
const secretsOf = ({ environment }: WantedServer) =>
  Object.values(environment).filter((value) => value.length >= SHORTEST_SECRET)

function readServers(ids: readonly string[], { body, status }: HttpAnswer): readonly AllocatedServer[] {
  const { servers } = read(answerSchema, jsonIn(body), (field) => {
    return new UnexpectedResponse('poll: the answer must be an object { servers: […] }', {
      operation: 'poll',
      status,
      field,
    })
  })
  return [...readAllocated(ids, servers).values()]
}

/** Returns the error for a status other than 2xx. It is `ServerError` if the call may have had an effect. */
function refusal(call: AllocatorCall, answer: HttpAnswer, secrets: readonly string[], now: number): MusterError {
  const { status } = answer
  const { error, detail } = Object(jsonIn(answer.body)) as { readonly error?: unknown; readonly detail?: unknown }
  const said = [error, detail].filter((text) => typeof text === 'string' && text !== '').join(': ')
  const message = `${call}: status ${status}${said === '' ? '' : `: ${scrub(said, secrets).slice(0, LONGEST_DETAIL)}`}`
  const facts = { operation: call, status }
  const waiting = () => ({
    ...facts,
    retryAfterMs: retryAfterMs({ retryAfter: headerOf(answer, 'retry-after'), date: headerOf(answer, 'date') }, now),
  })
  if (error === 'no-capacity' && (status === 409 || status === 503)) return new NoCapacity(message, facts)
  if (status === 429) return new RateLimited(message, waiting())
  if (status === 401) return new Unauthorized(message, facts)
  if (status === 403) return new Forbidden(message, facts)
  if (status === 405 || (status === 404 && typeof error !== 'string'))
    return new RouteMissing(`${message}: there may be no POST ${call} at this URL`, waiting())
  if (status === 408 || status === 425 || status >= 500) return new ServerError(message, waiting())
  if (status >= 400) return new InvalidInput(message, facts)
  return new UnexpectedResponse(`${message}: redirects are not followed`, facts)
}
