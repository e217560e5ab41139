/** What a failed create means. No I/O. */
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
  Withheld,
} from '@muster/core'

export type CreateFailure =
  /** The deployment may have been created: it is looked for by its tag. */
  | { readonly kind: 'lost' }
  /** Nothing was created, and the match is not at fault: a later create may succeed. */
  | { readonly kind: 'unavailable' }
  /** Nothing was created, and repeating the create would not help. */
  | { readonly kind: 'refused' }
  /**
   * There was no capacity. A deployment created in spite of that must be stopped; without an id, it must be found
   * first.
   */
  | { readonly kind: 'no-capacity'; readonly requestId: string | undefined }

const refusals = [InvalidInput, NotFound, Conflict, DependencyFailed]
const unavailabilities = [Unauthorized, Forbidden, RateLimited, ClientClosed]

/** A failure that does not prove that nothing was created counts as lost. */
export function readCreateFailure(error: unknown): CreateFailure {
  if (error instanceof NoCapacity) return { kind: 'no-capacity', requestId: error.requestId }
  // An error that names a deployment proves that it exists, whatever else the error says.
  if (error instanceof MusterError && error.requestId !== undefined)
    return { kind: 'no-capacity', requestId: error.requestId }
  if (error instanceof ConnectionLost || error instanceof TimedOut || error instanceof Withheld)
    return { kind: error.sent ? 'lost' : 'unavailable' }
  if (unavailabilities.some((kind) => error instanceof kind)) return { kind: 'unavailable' }
  if (refusals.some((kind) => error instanceof kind)) return { kind: 'refused' }
  return { kind: 'lost' }
}
