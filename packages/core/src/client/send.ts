import type { CallSlot } from '../rate-limit/index.js'
import { unlessAborted } from '../runtime/index.js'
import type { Clock } from '../time.js'
import type { EventSink } from './call-events.js'
import type { TokenSource } from './config.js'
import { MusterError, SendAborted } from './errors.js'
import { factsOf, laneOf, type Request, timeSpent } from './request.js'
import type { HttpAnswer, Transport } from './transport.js'

/** Performs an attempt, and emits an event at its beginning and at its end. */
export async function observe(
  request: Request,
  work: () => Promise<HttpAnswer>,
  events: EventSink,
  clock: Clock,
): Promise<HttpAnswer> {
  const { progress, priority, template: path } = request
  const { method } = request.operation
  const attempt = { ...factsOf(request), attempt: progress.attempt, method, path }
  const began = clock.now()
  const ended = () => clock.now() - began
  events.emit('request', { ...attempt, priority, queuedMs: timeSpent(progress, began).queued })
  try {
    const answer = await work()
    const { status, bytes } = answer
    events.emit('response', { ...attempt, status, error: undefined, durationMs: ended(), bytes })
    return answer
  } catch (error) {
    const name = error instanceof MusterError ? error.name : 'Aborted'
    events.emit('response', { ...attempt, status: undefined, error: name, durationMs: ended(), bytes: 0 })
    throw error
  }
}

interface Sending {
  readonly transport: Transport
  readonly token: TokenSource
}

const COMMON_HEADERS = ['accept', 'application/json', 'user-agent', 'muster']

/** The fourth hop: sends the request once, and returns any response. */
export async function send(request: Request, slot: CallSlot, { transport, token }: Sending): Promise<HttpAnswer> {
  const { progress, operation, path, headers, body, cancellation } = request
  const { method } = operation
  const facts = () => factsOf(request)
  progress.token = undefined
  // An operation with a delete token has this token in its own headers. It must not send the account's token.
  if (operation.auth === 'token') {
    const given = token({ facts })
    // A token function that hangs must not occupy a slot of the queue.
    progress.token = typeof given === 'string' ? given : await unlessAborted(given, cancellation.signal)
  }
  const authorization = progress.token === undefined ? [] : ['authorization', `token ${progress.token}`]
  const sentHeaders = [...COMMON_HEADERS, ...authorization, ...headers]
  const sent = { lane: laneOf(operation), method, path, headers: sentHeaders, body }
  return transport.exchange(sent, {
    facts,
    signal: cancellation.signal,
    objection: () => objection(request, slot),
    sending: () => {
      progress.written = true
    },
    written: slot.written,
    answered: slot.answered,
  })
}

/** Thrown if the limiter's permit expired before the request was written. The request then waits for another permit. */
export const permitExpired = new Error('the permit of the rate limiter expired before the request could be written')

/** Returns the reason not to write a request at the last moment; undefined if there is none. */
function objection(request: Request, slot: CallSlot): Error | undefined {
  const { id, progress, mayWrite } = request
  if (mayWrite?.() === false)
    return new SendAborted(`${id}: not sent, because mayWrite returned false`, {
      ...factsOf(request),
      sent: progress.doubtful,
    })
  return slot.mayWrite?.() === false ? permitExpired : undefined
}
