import type { Operation } from '@muster/core/api'
import type { RateLimits } from '../limits/rate-limits.js'
import { message, type Reply } from './reply.js'

/** The form of a 429 answer. The document does not show it, so all usual forms are offered. */
export interface TooManyAnswer {
  /** Whether and how Retry-After is sent: in whole seconds, rounded up, or as the date of the earliest retry. */
  readonly retryAfter: 'seconds' | 'date' | false
  /** The usual `{message}`, or plain text as gateways send it. */
  readonly body: 'json' | 'text'
}

/**
 * Answers 401 unless the request carries the account's token as documented: `Authorization: token <TOKEN>`. Where an
 * operation takes a container's delete token, only its presence is checked here; the operation compares it.
 */
export function unauthorized(operation: Operation, authorization: string | null, token: string): Reply | undefined {
  if (authorization === null || authorization === '') return message(401, 'the Authorization header is missing')
  if (operation.auth === 'delete-token' || authorization === `token ${token}`) return undefined
  return message(401, "the Authorization header is not 'token <API_TOKEN>' with a token of this service")
}

/** Answers 429 if the operation's documented limit is used up. */
export function tooMany(
  operation: Operation,
  limits: RateLimits,
  answer: TooManyAnswer,
  now: number,
): Reply | undefined {
  const wait = limits.take(operation, now)
  if (wait === 0) return undefined
  const headers = retryAfter(answer.retryAfter, wait, now)
  if (answer.body === 'json') return message(429, `too many requests: ${operation.limit?.name}`, headers)
  return {
    status: 429,
    headers: { 'content-type': 'text/plain; charset=utf-8', ...headers },
    body: 'Too Many Requests',
  }
}

function retryAfter(form: TooManyAnswer['retryAfter'], wait: number, now: number): Readonly<Record<string, string>> {
  if (form === false) return {}
  // Dates have whole seconds; rounding up means that a client that waits until then is not too early.
  const date = () => new Date(Math.ceil((now + wait) / 1000) * 1000).toUTCString()
  return { 'retry-after': form === 'seconds' ? String(Math.ceil(wait / 1000)) : date() }
}
