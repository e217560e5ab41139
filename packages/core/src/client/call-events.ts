import type { EventEmitter } from 'eventemitter3'
import type { OperationId } from '../api/api.js'
import type { Method } from '../operation.js'
import type { BoundChange } from '../rate-limit/index.js'
import { createEvents as createCarefulEvents } from '../runtime/index.js'

/** Facts in every event of a call. No event holds a token, a secret, an address, a filled path or a body. */
export interface CallEvent {
  /** Group and name, e.g. `deployments.create`. */
  readonly operation: OperationId
  /** Id of the call; errors carry it too. */
  readonly call: string
  /** The deployment the call is about. */
  readonly requestId?: string | undefined
  /** From 1. */
  readonly attempt: number
}

/** An attempt has left the queue. */
export interface RequestEvent extends CallEvent {
  readonly method: Method
  /** The template, e.g. `/v1/status/{request_id}`. */
  readonly path: string
  readonly priority: number
  /** Milliseconds the call has spent in queues so far. */
  readonly queuedMs: number
}

/** An attempt has ended, with an answer or without. */
export interface ResponseEvent extends CallEvent {
  readonly method: Method
  /** The template, e.g. `/v1/status/{request_id}`. */
  readonly path: string
  /** HTTP status; undefined if no answer came. */
  readonly status: number | undefined
  /** Name of the error class if no answer came. */
  readonly error: string | undefined
  /** Milliseconds since the attempt left the queue. */
  readonly durationMs: number
  /** Size of the answer's body. */
  readonly bytes: number
}

/** An attempt failed, and another follows. */
export interface RetryEvent extends CallEvent {
  /** Milliseconds until then, before any queueing. */
  readonly delayMs: number
  /** Name of the error class. */
  readonly error: string
}

/** The service answered 429, and the queue of that rate limit pauses. */
export interface ThrottledEvent extends CallEvent {
  /** Name of the rate limit; of the operation, if it has no documented limit. */
  readonly limit: string
  /** Milliseconds to wait by `Retry-After`, if the service sent it. */
  readonly retryAfterMs: number | undefined
  /** Milliseconds until the queue continues. */
  readonly pauseMs: number
}

/** An entry of a list lacks a field that is needed, such as its id, and was left out of the answer. */
export interface UnreadableEvent extends CallEvent {
  /** Path of the entry in the answer, e.g. `data.3.request_id`. */
  readonly field: string
  /** What is wrong, e.g. `is missing`. Without the value. */
  readonly wrong: string
}

/** The margin kept to a rate limit has changed. */
export interface PacedEvent {
  /** Name of the rate limit. */
  readonly limit: string
  /**
   * Milliseconds from its writing after which a request is taken as counted without an answer. Infinity, as at first:
   * only answers prove a count, and slow answers lower the rate.
   */
  readonly countedWithinMs: number
  readonly because: BoundChange
}

export interface ClientEvents {
  request: (event: RequestEvent) => void
  response: (event: ResponseEvent) => void
  retry: (event: RetryEvent) => void
  throttled: (event: ThrottledEvent) => void
  unreadable: (event: UnreadableEvent) => void
  paced: (event: PacedEvent) => void
}

/** The hops emit their events here. */
export interface EventSink {
  listens(name: keyof ClientEvents): boolean
  emit<Name extends keyof ClientEvents>(name: Name, event: Parameters<ClientEvents[Name]>[0]): void
}

/** An emitter for users, and the sink that feeds it. A listener that fails becomes one process warning per event. */
export function createEvents(): { readonly emitter: EventEmitter<ClientEvents>; readonly sink: EventSink } {
  const warned = new Set<string>()
  const { emitter, emit } = createCarefulEvents<ClientEvents>((event, error) => {
    if (warned.has(event)) return
    warned.add(event)
    // String() may throw
    const what = error instanceof Error ? `${error.name}: ${error.message}` : `a value of type ${typeof error}`
    process.emitWarning(`a listener of the event '${event}' threw: ${what}`, 'MusterWarning')
  })
  return {
    emitter,
    sink: {
      listens: (name) => emitter.listenerCount(name) > 0,
      emit: (name, event) => emit(name, ...([event] as never)),
    },
  }
}
