/** What it means that a create failed. No I/O. */
import {
  ClientClosed,
  Conflict,
  ConnectionLost,
  DependencyFailed,
  Forbidden,
  InvalidInput,
  MusterError,
  NoCapacity,
  NotFound,
  RateLimited,
  TimedOut,
  Unauthorized,
} from '@muster/core'

export type CreateFailure =
  /** It may have been created: look for its tag. */
  | { readonly kind: 'lost' }
  /** Nothing was created, and it is not the match's fault: later it may go well. */
  | { readonly kind: 'unavailable' }
  /** Nothing was created, and trying the same again would not help. */
  | { readonly kind: 'refused' }
  /** There was no capacity. Whatever was created in spite of it must be stopped; without an id, it must be looked for. */
  | { readonly kind: 'no-capacity'; readonly requestId: string | undefined }

const refusals = [InvalidInput, NotFound, Conflict, DependencyFailed]
const unavailabilities = [Unauthorized, Forbidden, RateLimited, ClientClosed]

/** What is not known for certain to have created nothing counts as lost. */
export function readCreateFailure(error: unknown): CreateFailure {
  if (error instanceof NoCapacity) return { kind: 'no-capacity', requestId: error.requestId }
  // An error that names a deployment says that there is one, whatever else it says.
  if (error instanceof MusterError && error.requestId !== undefined) return { kind: 'no-capacity', requestId: error.requestId }
  if (error instanceof ConnectionLost || error instanceof TimedOut) return { kind: error.sent ? 'lost' : 'unavailable' }
  if (unavailabilities.some((kind) => error instanceof kind)) return { kind: 'unavailable' }
  if (refusals.some((kind) => error instanceof kind)) return { kind: 'refused' }
  return { kind: 'lost' }
}
