/**
 * The errors of the client, one subclass for each different reaction of a caller. Only the reason of an aborted signal
 * is thrown unchanged. No error holds a token, a secret or a player's address, neither in its message nor in its
 * properties or causes.
 */

/** Facts about the call that failed. */
export interface CallFacts {
  /** Group and name of the operation, e.g. `deployments.create`. */
  readonly operation?: string | undefined
  /** Id of the call within this process; the call's events carry it too. */
  readonly call?: string | undefined
  /** The deployment that the call was about, or that the answer named. */
  readonly requestId?: string | undefined
  /** HTTP status of the answer. */
  readonly status?: number | undefined
  readonly cause?: unknown
}

export class MusterError extends Error {
  /** Group and name of the operation, e.g. `deployments.create`. */
  declare readonly operation?: string
  /** Id of the call within this process; the call's events carry it too. */
  declare readonly call?: string
  /** The deployment that the call was about, or that the answer named. */
  declare readonly requestId?: string
  /** HTTP status of the answer, if one came. */
  declare readonly status?: number

  constructor(message: string, { cause, ...facts }: CallFacts = {}) {
    super(message, cause === undefined ? undefined : { cause })
    for (const [key, value] of Object.entries(facts)) if (value !== undefined) Object.assign(this, { [key]: value })
  }

  /** For structured logs: name, message and facts, without stack and cause. */
  toJSON(): Readonly<Record<string, unknown>> {
    return { name: this.name, message: this.message, ...Object.fromEntries(Object.entries(this)) }
  }
}

/**
 * What several processes share could not be read or changed: it is away, full, or refuses. The request may be repeated
 * later. The HTTP APIs answer 503.
 */
export class StoreUnavailable extends MusterError {}

/** The input or an option is wrong: found before sending, or by the service (400, 422). Repeating it fails again. */
export class InvalidInput extends MusterError {
  /** The input key or option at fault, e.g. `users.0.user_data`. Undefined if the service did not name one. */
  declare readonly field?: string

  constructor(message: string, facts: CallFacts & { readonly field?: string | undefined } = {}) {
    super(message, facts)
  }
}

/** The token is missing, wrong or expired (401). */
export class Unauthorized extends MusterError {}

/** The token is known but not allowed to do this (403). */
export class Forbidden extends MusterError {}

/** No object with that name exists, in the API's own words (404; for deployments also a 400 that says so). */
export class NotFound extends MusterError {}

/** The name is taken, or the object's state does not allow the operation (409). */
export class Conflict extends MusterError {}

/**
 * The deployment has ended already (410, in the API's own words). For a caller who wanted it stopped, this is a
 * success.
 */
export class AlreadyTerminated extends MusterError {}

/** No server could be allocated (422 on create). The deployment of a `requestId` may cost money: stop it. */
export class NoCapacity extends MusterError {}

/** Something the service depends on failed, e.g. the image could not be pulled for a test (424). */
export class DependencyFailed extends MusterError {}

/** Too many requests (429), and the `Retry-After` of the service exceeds the rest of the call's `timeoutMs`. */
export class RateLimited extends MusterError {
  /** Milliseconds to wait, as the service said. */
  declare readonly retryAfterMs?: number

  constructor(message: string, facts: CallFacts & { readonly retryAfterMs?: number | undefined } = {}) {
    super(message, facts)
  }
}

/** The service failed (5xx). The operation may have been carried out. */
export class ServerError extends MusterError {
  /** Milliseconds to wait, as the service said. */
  declare readonly retryAfterMs?: number

  constructor(message: string, facts: CallFacts & { readonly retryAfterMs?: number | undefined } = {}) {
    super(message, facts)
  }
}

/**
 * The answer is not of the API: the address has no such route (404 or 405), or something in front of the service
 * answered. It proves nothing about the object that was named. Most often the base URL has a path too many, or a
 * setting such as `createDeploymentPath` is another's. Nothing was carried out.
 */
export class RouteMissing extends ServerError {}

/** No answer came: the connection could not be opened, or it broke. */
export class ConnectionLost extends MusterError {
  /** Whether the request may have reached the service. False is certain: nothing was written. */
  declare readonly sent: boolean

  constructor(message: string, facts: CallFacts & { readonly sent: boolean }) {
    super(message, facts)
  }
}

/** The call's own `mayWrite` answered false before the request was written. */
export class SendAborted extends MusterError {
  /** Whether an earlier attempt may have been carried out. False is certain. */
  declare readonly sent: boolean

  constructor(message: string, facts: CallFacts & { readonly sent: boolean }) {
    super(message, facts)
  }
}

/**
 * The call did not end within `timeoutMs`. Its cause is the last failed attempt, or the 429 for which its queue pauses.
 */
export class TimedOut extends MusterError {
  /** Whether the operation may have been carried out. False is certain. */
  declare readonly sent: boolean
  /** Milliseconds the call was given. */
  declare readonly timeoutMs: number
  /** Milliseconds spent waiting for the rate limit and a free place. */
  declare readonly queuedMs: number
  /** Milliseconds spent between failed attempts. */
  declare readonly retryWaitMs: number
  /** Milliseconds spent connecting, sending and waiting for answers. */
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
 * The answer does not match the description: not JSON, too large, a redirect, a field of the wrong type, an unknown
 * status. The operation may have been carried out.
 */
export class UnexpectedResponse extends MusterError {
  /** The field of the answer at fault. */
  declare readonly field?: string

  constructor(message: string, facts: CallFacts & { readonly field?: string | undefined } = {}) {
    super(message, facts)
  }
}

/** The deployment is in error. It may cost money until it is stopped. */
export class DeploymentFailed extends MusterError {
  /** The service's `error_detail`. */
  declare readonly detail?: string

  constructor(message: string, facts: CallFacts & { readonly detail?: string | undefined }) {
    super(message, facts)
  }
}

/** The client was closed before the call, or before its answer came. */
export class ClientClosed extends MusterError {
  /** Whether the operation may have been carried out. False is certain. */
  declare readonly sent: boolean

  constructor(message: string, facts: CallFacts & { readonly sent?: boolean | undefined } = {}) {
    super(message, { sent: false, ...facts })
  }
}

/** Names errors for logs. The names stand in the prototypes, so that they are no facts of each error. */
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
