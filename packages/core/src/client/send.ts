import type { Slot } from '../rate-limit/index.js'
import type { Clock } from '../time.js'
import type { EventSink } from './call-events.js'
import type { TokenSource } from './config.js'
import { type CallFacts, MusterError, SendAborted } from './errors.js'
import { type Cancellation, factsOf, laneOf, type Request, timeSpent } from './request.js'
import type { Answer, Exchange, Transport } from './transport.js'

/** Performs an attempt, and emits an event at its beginning and at its end if there are listeners. */
export function observe(
  request: Request,
  work: () => Promise<Answer>,
  events: EventSink,
  clock: Clock,
): Promise<Answer> {
  return events.listens('request') || events.listens('response') ? observed(request, work, events, clock) : work()
}

async function observed(
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
    events.emit('response', {
      ...attempt,
      status: answer.status,
      error: undefined,
      durationMs: ended(),
      bytes: answer.bytes,
    })
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

/** The fourth hop: sends the request once, and returns any answer. */
export function send(request: Request, slot: Slot, { transport, token }: Sending): Promise<Answer> {
  const attempt = new Attempt(request, slot)
  // This operation carries its own token in its headers, and must not carry the account's.
  if (request.operation.auth === 'delete-token') return sendAs(undefined, attempt, transport)
  const given = token(attempt)
  if (typeof given === 'string') return sendAs(given, attempt, transport)
  return unlessCancelled(given, request.cancellation).then((present) => sendAs(present, attempt, transport))
}

const COMMON_HEADERS = ['accept', 'application/json', 'user-agent', 'muster']

function sendAs(token: string | undefined, attempt: Attempt, transport: Transport): Promise<Answer> {
  const { progress, operation, path, headers: own, body } = attempt.request
  const authorization = token === undefined ? [] : ['authorization', `token ${token}`]
  const headers = COMMON_HEADERS.concat(authorization, own)
  progress.token = token
  return transport.exchange({ lane: laneOf(operation), method: operation.method, path, headers, body }, attempt)
}

/** Notes the course of one attempt. A class for the reason given at `Progress`. */
class Attempt implements Exchange {
  readonly request: Request
  readonly cancellation: Cancellation
  readonly objection: Exchange['objection']
  readonly #slot: Slot

  constructor(request: Request, slot: Slot) {
    this.request = request
    this.cancellation = request.cancellation
    this.objection = objectionOf(request, slot)
    this.#slot = slot
  }

  facts(): CallFacts {
    return factsOf(this.request)
  }

  sending(): void {
    this.request.progress.written = true
  }

  written(fresh: boolean): void {
    this.#slot.written(fresh)
  }

  answered(): void {
    this.#slot.answered()
  }
}

/** The permit of a request was not used in time, so the request has to wait for another one. */
export const permitExpired = new Error('the permit to send the request expired before it could be written')

/** What can keep a request from being written at the last moment. Undefined, at no cost, where nothing can. */
function objectionOf(request: Request, { mayWrite: permitHolds }: Slot): (() => Error | undefined) | undefined {
  const { id, progress, mayWrite } = request
  if (permitHolds === undefined && mayWrite === undefined) return undefined
  return () => {
    if (mayWrite?.() === false)
      return new SendAborted(`${id}: not sent, as mayWrite did not allow it any more`, {
        ...factsOf(request),
        sent: progress.doubtful,
      })
    return permitHolds?.() === false ? permitExpired : undefined
  }
}

/** Stops waiting on cancellation, so that a token function that hangs does not hold a place in the queue. */
function unlessCancelled<T>(value: Promise<T>, cancellation: Cancellation): Promise<T> {
  return new Promise((resolve, reject) => {
    cancellation.listener = { cancelled: reject }
    value.then(resolve, reject).finally(() => {
      cancellation.listener = undefined
    })
  })
}
