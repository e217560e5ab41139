/**
 * Tells the client's parts that no caller waits for a call any more. An AbortSignal with its listeners would cost as
 * much as all other work on a call, so one is created only where it is needed.
 */
export interface Cancellation {
  cancelled: boolean
  reason: unknown
  /** Called on cancellation. One listener at a time, because a call is handled by one part at a time. */
  listener: (() => void) | undefined
  controller: AbortController | undefined
}

export function createCancellation(): Cancellation {
  return { cancelled: false, reason: undefined, listener: undefined, controller: undefined }
}

export function cancel(cancellation: Cancellation, reason: unknown): void {
  if (cancellation.cancelled) return
  cancellation.cancelled = true
  cancellation.reason = reason
  cancellation.listener?.()
  cancellation.controller?.abort(reason)
}

/** Returns the cancellation as an AbortSignal. */
export function signalOf(cancellation: Cancellation): AbortSignal {
  const controller = (cancellation.controller ??= new AbortController())
  if (cancellation.cancelled) controller.abort(cancellation.reason)
  return controller.signal
}
