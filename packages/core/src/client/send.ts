import type { Slot } from '../scheduler/scheduler.js'
import type { Cancellation } from './cancellation.js'
import { Withheld } from './errors.js'
import { laneOf } from './lane.js'
import { factsOf, type Request } from './request.js'
import type { TokenSource } from './token.js'
import type { Answer, Transport } from './transport.js'

export interface Sending {
  readonly transport: Transport
  readonly token: TokenSource
}

/** The fourth hop: sends the request once, and returns any answer. */
export function send(request: Request, slot: Slot, { transport, token }: Sending): Promise<Answer> {
  const facts = () => factsOf(request)
  const sendAs = (authorization: string | undefined) => {
    const { progress, cancellation, path, body } = request
    const headers = ['accept', 'application/json', 'user-agent', 'muster', ...request.headers]
    if (authorization !== undefined) headers.push('authorization', `token ${authorization}`)
    progress.token = authorization
    const sending = () => {
      progress.written = true
    }
    const outgoing = { lane: laneOf(request.operation), method: request.operation.method, path, headers, body }
    return transport.exchange(outgoing, {
      facts,
      cancellation,
      objection: objectionOf(request, slot),
      sending,
      written: slot.written,
      answered: slot.answered,
    })
  }

  // This operation carries its own token in its headers, and must not carry the account's.
  if (request.operation.auth === 'delete-token') return sendAs(undefined)
  const given = token(facts)
  return typeof given === 'string' ? sendAs(given) : unlessCancelled(given, request.cancellation).then(sendAs)
}

/** The permit of a request was not used in time, so the request has to wait for another one. */
export const permitExpired = new Error('the permit to send the request expired before it could be written')

/** What can keep a request from being written at the last moment. Undefined, at no cost, where nothing can. */
function objectionOf(request: Request, { mayWrite: permitHolds }: Slot): (() => Error | undefined) | undefined {
  const { id, progress, mayWrite } = request
  if (permitHolds === undefined && mayWrite === undefined) return undefined
  return () => {
    if (mayWrite?.() === false)
      return new Withheld(`${id}: not sent, as mayWrite did not allow it any more`, {
        ...factsOf(request),
        sent: progress.doubtful,
      })
    return permitHolds?.() === false ? permitExpired : undefined
  }
}

/** Stops waiting on cancellation, so that a token function that hangs does not hold a place in the queue. */
function unlessCancelled<T>(value: Promise<T>, cancellation: Cancellation): Promise<T> {
  return new Promise((resolve, reject) => {
    cancellation.listener = () => reject(cancellation.reason)
    value.then(resolve, reject).finally(() => {
      cancellation.listener = undefined
    })
  })
}
