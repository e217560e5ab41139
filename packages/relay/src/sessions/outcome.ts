import { ConnectionLost, NotFound, RateLimited, ServerError, TimedOut, UnexpectedResponse } from '@muster/core'

/** What an error of the service says about the call. */

/** Whether the same call may well succeed a little later. */
export const isTransient = (error: unknown): boolean =>
  error instanceof ConnectionLost ||
  error instanceof TimedOut ||
  error instanceof ServerError ||
  error instanceof UnexpectedResponse ||
  error instanceof RateLimited

/** Whether what was asked may have been done although the call failed. */
export function mayHaveTakenEffect(error: unknown): boolean {
  if (error instanceof ConnectionLost || error instanceof TimedOut) return error.sent
  return error instanceof ServerError || error instanceof UnexpectedResponse
}

/** Undefined in place of what is not there, or could not be read just now. */
export async function unlessTransient<T>(call: Promise<T>): Promise<T | undefined> {
  return call.catch((error: unknown) => {
    if (isTransient(error)) return undefined
    throw error
  })
}

/** Ends a thing; that it is not there is as good. */
export async function unlessGone(call: Promise<unknown>): Promise<void> {
  await call.catch((error: unknown) => {
    if (!(error instanceof NotFound)) throw error
  })
}
