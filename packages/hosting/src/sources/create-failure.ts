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

/** The outcome of a failed create. */
type CreateFailure = Exclude<CreateOutcome, { kind: 'created' }>

const refusals = [InvalidInput, NotFound, Conflict, DependencyFailed]
const unavailabilities = [Unauthorized, Forbidden, RateLimited, RouteMissing, ClientClosed]

/**
 * Returns the outcome of a create that resolves with the handle of its server. Never rejects, even if `create` throws,
 * as an allocator of a user may.
 */
export async function createOutcome(create: () => Promise<string>): Promise<CreateOutcome> {
  try {
    return { kind: 'created', handle: await create() }
  } catch (error) {
    return createFailure(error)
  }
}

/** Returns the outcome of a failed create: `lost`, unless the error proves that nothing was created. */
export function createFailure(error: unknown): CreateFailure {
  if (error instanceof NoCapacity) return { kind: 'no-capacity', handle: error.requestId, error }
  // An error that names a deployment proves that it exists, regardless of the rest of the error.
  if (error instanceof MusterError && error.requestId !== undefined)
    return { kind: 'no-capacity', handle: error.requestId, error }
  if (error instanceof ConnectionLost || error instanceof TimedOut || error instanceof SendAborted)
    return { kind: error.sent ? 'lost' : 'unavailable', error }
  if (unavailabilities.some((kind) => error instanceof kind)) return { kind: 'unavailable', error }
  if (refusals.some((kind) => error instanceof kind)) return { kind: 'refused', error }
  return { kind: 'lost', error }
}
