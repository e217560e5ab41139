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
  RouteMissing,
  TimedOut,
  Unauthorized,
  SendAborted,
} from '@muster/core'
import type { CreateOutcome } from './source.js'

/** What a create came to that failed. */
type CreateFailure = Exclude<CreateOutcome, { kind: 'created' }>

const refusals = [InvalidInput, NotFound, Conflict, DependencyFailed]
const unavailabilities = [Unauthorized, Forbidden, RateLimited, RouteMissing, ClientClosed]

/** A failure that does not prove that nothing was created counts as lost. */
export function createFailure(error: unknown): CreateFailure {
  if (error instanceof NoCapacity) return { kind: 'no-capacity', handle: error.requestId, error }
  // An error that names a deployment proves that it exists, whatever else the error says.
  if (error instanceof MusterError && error.requestId !== undefined)
    return { kind: 'no-capacity', handle: error.requestId, error }
  if (error instanceof ConnectionLost || error instanceof TimedOut || error instanceof SendAborted)
    return { kind: error.sent ? 'lost' : 'unavailable', error }
  if (unavailabilities.some((kind) => error instanceof kind)) return { kind: 'unavailable', error }
  if (refusals.some((kind) => error instanceof kind)) return { kind: 'refused', error }
  return { kind: 'lost', error }
}
