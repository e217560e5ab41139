import type { EventEmitter } from 'eventemitter3'
import type { OperationId } from '../api/api.js'
import type { Method } from '../operation.js'
import type { BoundChange } from '../rate-limit/index.js'
import { createEvents as createCarefulEvents } from '../runtime/index.js'

/**
 * The common fields of all events of a call. No event holds a token, a secret, an address, a path with values or a
 * body.
 */
export interface CallEvent {
  /** Group and name, e.g. `deployments.create`. */
  readonly operation: OperationId
  /** Id of the call; errors carry it too. */
  readonly call: string
  /** The deployment that the call is about. */
  readonly requestId?: string | undefined
  /** Number of the attempt, from 1. */
  readonly attempt: number
}

/** An attempt has left the queue. */
export interface RequestEvent extends CallEvent {
  readonly method: Method
  /** The path as a template, e.g. `/v1/status/{request_id}`. */
  readonly path: string
  readonly priority: number
  /** Milliseconds the call has spent in queues so far. */
  readonly queuedMs: number
}

/** An attempt has ended, with or without a response. */
export interface ResponseEvent extends CallEvent {
  readonly method: Method
  /** The path as a template, e.g. `/v1/status/{request_id}`. */
  readonly path: string
  /** HTTP status; undefined if no response came. */
  readonly status: number | undefined
  /** Name of the error class if no response came. */
  readonly error: string | undefined
  /** Milliseconds since the attempt left the queue. */
  readonly durationMs: number
  /** Size of the response body in bytes. */
  readonly bytes: number
}

/** An attempt failed, and another attempt follows. */
export interface RetryEvent extends CallEvent {
  /** Milliseconds until the next attempt, without queueing. */
  readonly delayMs: number
  /** Name of the error class. */
  readonly error: string
}

/** The service answered 429, and the queue of the exceeded rate limit pauses. */
export interface ThrottledEvent extends CallEvent {
  /** Name of the rate limit, or of the operation if it has no documented limit. */
  readonly limit: string
  /** Milliseconds to wait by `Retry-After`, if the service sent it. */
  readonly retryAfterMs: number | undefined
  /** Milliseconds until the queue continues. */
  readonly pauseMs: number
}

/** An entry of a list was omitted from the response because it lacks a required field, such as its id. */
export interface UnreadableEvent extends CallEvent {
  /** Path of the entry in the response, e.g. `data.3.request_id`. */
  readonly field: string
  /** The fault without the value, e.g. `is missing`. */
  readonly wrong: string
}

/** The safety margin of a rate limit has changed. */
export interface PacedEvent {
  /** Name of the rate limit. */
  readonly limit: string
  /**
   * Milliseconds after sending a request until it is regarded as counted by the service, even without a response.
   * Infinity at first: then only responses prove that requests were counted, and slow responses lower the rate.
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

/** The sink for the events of a call. */
export interface EventSink {
  listens(name: keyof ClientEvents): boolean
  emit<Name extends keyof ClientEvents>(name: Name, event: Parameters<ClientEvents[Name]>[0]): void
}

/**
 * Creates an emitter for users, and the sink that feeds it. If a listener throws, a process warning reports it, once
 * for each event.
 */
export function createEvents(): { readonly emitter: EventEmitter<ClientEvents>; readonly sink: EventSink } {
  const warned = new Set<string>()
  const { emitter, emit } = createCarefulEvents<ClientEvents>((event, error) => {
    if (warned.has(event)) return
    warned.add(event)
    // The error is not converted by String(), which may throw.
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
