import type { Slot } from '../rate-limit/index.js'
import { unlessAborted } from '../runtime/index.js'
import type { Clock } from '../time.js'
import type { EventSink } from './call-events.js'
import type { TokenSource } from './config.js'
import { MusterError, SendAborted } from './errors.js'
import { factsOf, laneOf, type Request, timeSpent } from './request.js'
import type { Answer, Transport } from './transport.js'

/** Performs an attempt, and emits an event at its beginning and at its end. */
export async function observe(
  request: Request,
  work: () => Promise<Answer>,
  events: EventSink,
  clock: Clock,
): Promise<Answer> {
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

/** The fourth hop: sends the request once, and returns any answer. */
export async function send(request: Request, slot: Slot, { transport, token }: Sending): Promise<Answer> {
  const { progress, operation, path, headers, body, cancellation } = request
  const { method } = operation
  const facts = () => factsOf(request)
  progress.token = undefined
  // An operation with a delete token carries it in its own headers, and must not carry the account's.
  if (operation.auth === 'token') {
    const given = token({ facts })
    // A token function that hangs must not hold a place in the queue.
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

/** The permit of a request was not used in time, so the request has to wait for another one. */
export const permitExpired = new Error('the permit to send the request expired before it could be written')

/** What keeps a request from being written at the last moment. */
function objection(request: Request, slot: Slot): Error | undefined {
  const { id, progress, mayWrite } = request
  if (mayWrite?.() === false)
    return new SendAborted(`${id}: not sent, as mayWrite did not allow it any more`, {
      ...factsOf(request),
      sent: progress.doubtful,
    })
  return slot.mayWrite?.() === false ? permitExpired : undefined
}
