import { ConnectionLost, NotFound, RateLimited, ServerError, TimedOut, UnexpectedResponse } from '@muster/core'

/** What an error of the service means for a call. */

/** Whether the same call may succeed a little later. */
export const isTransient = (error: unknown): boolean =>
  error instanceof ConnectionLost ||
  error instanceof TimedOut ||
  error instanceof ServerError ||
  error instanceof UnexpectedResponse ||
  error instanceof RateLimited

/** Whether the call may have taken effect although it failed. */
export function mayHaveTakenEffect(error: unknown): boolean {
  if (error instanceof ConnectionLost || error instanceof TimedOut) return error.sent
  return error instanceof ServerError || error instanceof UnexpectedResponse
}

/** The call's result; undefined if the resource is missing, or cannot be read at the moment. */
export async function unlessTransient<T>(call: Promise<T>): Promise<T | undefined> {
  return call.catch((error: unknown) => {
    if (isTransient(error)) return undefined
    throw error
  })
}

/** Awaits a deletion. A resource that is already gone counts as deleted. */
export async function unlessGone(call: Promise<unknown>): Promise<void> {
  await call.catch((error: unknown) => {
    if (!(error instanceof NotFound)) throw error
  })
}
