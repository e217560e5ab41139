import type { Clock } from '../clock.js'
import type { Slot } from '../scheduler/scheduler.js'
import type { Cancellation } from './cancellation.js'
import { MusterError } from './errors.js'
import type { EventSink } from './events.js'
import { timeSpent } from './progress.js'
import { factsOf, type Request } from './request.js'
import type { TokenSource } from './token.js'
import type { Answer, Transport } from './transport.js'

export interface Sending {
  readonly transport: Transport
  readonly token: TokenSource
  readonly clock: Clock
  readonly events: EventSink
}

/** The fourth hop: sends the request once, and gives whatever answer comes. */
export async function send(request: Request, slot: Slot, { transport, token: source, clock, events }: Sending): Promise<Answer> {
  const { operation, progress, cancellation, path, body } = request
  const { method } = operation
  const facts = () => factsOf(request)
  // The one operation with a token of its own has it among its headers, and must not carry the account's.
  const token = operation.auth === 'token' ? await unlessCancelled(source(facts), cancellation) : undefined
  progress.token = token
  const headers = ['accept', 'application/json', 'user-agent', 'muster', ...request.headers]
  if (token !== undefined) headers.push('authorization', `token ${token}`)

  const event = () => ({ ...factsOf(request), attempt: progress.attempt, method, path: request.template })
  const began = clock.now()
  events.emit('request', () => ({ ...event(), priority: request.priority, queuedMs: timeSpent(progress, began).queued }))
  const ended = (status: number | undefined, error: string | undefined, bytes: number) =>
    events.emit('response', () => ({ ...event(), status, error, durationMs: clock.now() - began, bytes }))

  const written = () => {
    progress.written = true
    slot.written()
  }
  try {
    const answer = await transport.exchange({ method, path, headers, body }, { facts, cancellation, written, answered: slot.answered })
    ended(answer.status, undefined, answer.bytes)
    return answer
  } catch (error) {
    ended(undefined, error instanceof MusterError ? error.name : 'Aborted', 0)
    throw error
  }
}

/** A token function that hangs must not hold a place in the queue. */
function unlessCancelled<T>(value: T | Promise<T>, cancellation: Cancellation): T | Promise<T> {
  if (!(value instanceof Promise)) return value
  return new Promise((resolve, reject) => {
    cancellation.listener = () => reject(cancellation.reason)
    value.then(resolve, reject).finally(() => {
      cancellation.listener = undefined
    })
  })
}
