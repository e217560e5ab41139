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

type CreateFailure = Exclude<CreateOutcome, { kind: 'created' }>

const refusals = [InvalidInput, NotFound, Conflict, DependencyFailed]
const unavailabilities = [Unauthorized, Forbidden, RateLimited, RouteMissing, ClientClosed]

/**
 * Returns the outcome of a create. Never rejects. @param create resolves with the handle of the server. It may throw,
 * because users write allocators
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
  // An error that contains the id of a deployment proves that the deployment exists.
  if (error instanceof MusterError && error.requestId !== undefined)
    return { kind: 'no-capacity', handle: error.requestId, error }
  if (error instanceof ConnectionLost || error instanceof TimedOut || error instanceof SendAborted)
    return { kind: error.sent ? 'lost' : 'unavailable', error }
  if (unavailabilities.some((kind) => error instanceof kind)) return { kind: 'unavailable', error }
  if (refusals.some((kind) => error instanceof kind)) return { kind: 'refused', error }
  return { kind: 'lost', error }
}
