/**
 * The errors of the client: one subclass for each way in which a caller should react. An aborted call instead rejects
 * with `signal.reason`, unchanged. No error holds a token, a secret or a player's address, neither in its message nor
 * in its properties or causes.
 */

/** Facts about the call that failed. */
export interface CallFacts {
  /** Group and name of the operation, e.g. `deployments.create`. */
  readonly operation?: string | undefined
  /** Id of the call within this process, as in the call's events. */
  readonly call?: string | undefined
  /** The deployment that the call was about, or that the response named. */
  readonly requestId?: string | undefined
  /** HTTP status of the response. */
  readonly status?: number | undefined
  readonly cause?: unknown
}

export class MusterError extends Error {
  /** Group and name of the operation, e.g. `deployments.create`. */
  declare readonly operation?: string
  /** Id of the call within this process, as in the call's events. */
  declare readonly call?: string
  /** The deployment that the call was about, or that the response named. */
  declare readonly requestId?: string
  /** HTTP status of the response, if one came. */
  declare readonly status?: number

  constructor(message: string, { cause, ...facts }: CallFacts = {}) {
    super(message, cause === undefined ? undefined : { cause })
    for (const [key, value] of Object.entries(facts)) if (value !== undefined) Object.assign(this, { [key]: value })
  }

  /** Returns data for structured logs: name, message and facts, without stack and cause. */
  toJSON(): Readonly<Record<string, unknown>> {
    return { name: this.name, message: this.message, ...Object.fromEntries(Object.entries(this)) }
  }
}

/**
 * A shared store could not be read or changed: it is unavailable, full, or rejects the request. The request may be
 * repeated later. The HTTP APIs answer 503.
 */
export class StoreUnavailable extends MusterError {}

/**
 * The input or an option is invalid. The client found this before sending, or the service did (400, 422). A repeated
 * call fails again.
 */
export class InvalidInput extends MusterError {
  /** The invalid input key or option, e.g. `users.0.user_data`. Undefined if the service did not name it. */
  declare readonly field?: string

  constructor(message: string, facts: CallFacts & { readonly field?: string | undefined } = {}) {
    super(message, facts)
  }
}

/** The token is missing, wrong or expired (401). */
export class Unauthorized extends MusterError {}

/** The token is known but not allowed to do this (403). */
export class Forbidden extends MusterError {}

/**
 * No object with that name exists, as the service's own error states (404; for deployments also a 400 with such a
 * message).
 */
export class NotFound extends MusterError {}

/** The name is taken, or the object's state does not allow the operation (409). */
export class Conflict extends MusterError {}

/**
 * The deployment has already ended (410 from the service itself). A caller who wants to stop it can treat this as a
 * success.
 */
export class AlreadyTerminated extends MusterError {}

/**
 * No server could be allocated (422 on create). If the error has a `requestId`, stop that deployment, because it may
 * cost money.
 */
export class NoCapacity extends MusterError {}

/** A dependency of the service failed, e.g. the image could not be pulled for a test (424). */
export class DependencyFailed extends MusterError {}

/** Too many requests (429), and the `Retry-After` of the service exceeds the rest of the call's `timeoutMs`. */
export class RateLimited extends MusterError {
  /** Milliseconds to wait, as the service says. */
  declare readonly retryAfterMs?: number

  constructor(message: string, facts: CallFacts & { readonly retryAfterMs?: number | undefined } = {}) {
    super(message, facts)
  }
}

/** The service failed (5xx), or a proxy gave up (408, 425). The operation may have been executed. */
export class ServerError extends MusterError {
  /** Milliseconds to wait, as the service says. */
  declare readonly retryAfterMs?: number

  constructor(message: string, facts: CallFacts & { readonly retryAfterMs?: number | undefined } = {}) {
    super(message, facts)
  }
}

/**
 * The response does not come from the API. Either the address has no such route (404 or 405), or a proxy in front of
 * the service answered. The response says nothing about the named object. Usual causes: a base URL with a wrong path,
 * or a setting such as `createDeploymentPath` that does not match the service. Nothing was executed.
 */
export class RouteMissing extends ServerError {}

/** No response came: the connection could not be opened, or it broke. */
export class ConnectionLost extends MusterError {
  /** True if the request may have reached the service. False if it certainly has not, because nothing was written. */
  declare readonly sent: boolean

  constructor(message: string, facts: CallFacts & { readonly sent: boolean }) {
    super(message, facts)
  }
}

/** The call's own `mayWrite` returned false before the request was written. */
export class SendAborted extends MusterError {
  /** True if an earlier attempt may have been executed. False if certainly none was. */
  declare readonly sent: boolean

  constructor(message: string, facts: CallFacts & { readonly sent: boolean }) {
    super(message, facts)
  }
}

/**
 * The call did not end within `timeoutMs`. `cause` is the last failed attempt, or the 429 for which the call's queue
 * paused.
 */
export class TimedOut extends MusterError {
  /** True if the operation may have been executed. False if it certainly was not. */
  declare readonly sent: boolean
  /** The timeout of the call in milliseconds. */
  declare readonly timeoutMs: number
  /** Milliseconds spent waiting for the rate limit and a free slot. */
  declare readonly queuedMs: number
  /** Milliseconds spent waiting between failed attempts. */
  declare readonly retryWaitMs: number
  /** Milliseconds spent connecting, sending and waiting for responses. */
  declare readonly inFlightMs: number

  constructor(message: string, facts: CallFacts & TimedOutFacts) {
    super(message, facts)
  }
}

export interface TimedOutFacts {
  readonly sent: boolean
  readonly timeoutMs: number
  readonly queuedMs?: number
  readonly retryWaitMs?: number
  readonly inFlightMs?: number
}

/**
 * The response does not match the description: not JSON, too large, a redirect, a field of the wrong type, an unknown
 * status. The operation may have been executed.
 */
export class UnexpectedResponse extends MusterError {
  /** The invalid field of the response. */
  declare readonly field?: string

  constructor(message: string, facts: CallFacts & { readonly field?: string | undefined } = {}) {
    super(message, facts)
  }
}

/** The deployment is in error. It may cost money until it is stopped. */
export class DeploymentFailed extends MusterError {
  /** The reason, as in the service's `error_detail`. */
  declare readonly detail?: string

  constructor(message: string, facts: CallFacts & { readonly detail?: string | undefined }) {
    super(message, facts)
  }
}

/** The client was closed before the call, or before its response came. */
export class ClientClosed extends MusterError {
  /** True if the operation may have been executed. False if it certainly was not. */
  declare readonly sent: boolean

  constructor(message: string, facts: CallFacts & { readonly sent?: boolean | undefined } = {}) {
    super(message, { sent: false, ...facts })
  }
}

/**
 * Names errors for logs. The names are set on the prototypes, so that they do not appear among each error's own facts.
 */
export function nameErrors(errors: Readonly<Record<string, { readonly prototype: Error }>>): void {
  for (const [name, { prototype }] of Object.entries(errors)) prototype.name = name
}

nameErrors({
  MusterError,
  StoreUnavailable,
  InvalidInput,
  Unauthorized,
  Forbidden,
  NotFound,
  Conflict,
  AlreadyTerminated,
  NoCapacity,
  DependencyFailed,
  RateLimited,
  ServerError,
  RouteMissing,
  ConnectionLost,
  SendAborted,
  TimedOut,
  UnexpectedResponse,
  DeploymentFailed,
  ClientClosed,
})
