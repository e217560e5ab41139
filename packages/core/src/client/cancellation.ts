/**
 * Tells the client's parts that no caller waits for a call any more. An AbortSignal with its listeners would cost as
 * much as all other work on a call, so one is created only where it is needed.
 */
export class Cancellation {
  cancelled = false
  reason: unknown
  /** Told of the cancellation. One listener at a time, because a call is handled by one part at a time. */
  listener: CancelListener | undefined
  controller: AbortController | undefined
}

export interface CancelListener {
  cancelled(reason: unknown): void
}

export function cancel(cancellation: Cancellation, reason: unknown): void {
  if (cancellation.cancelled) return
  cancellation.cancelled = true
  cancellation.reason = reason
  cancellation.listener?.cancelled(reason)
  cancellation.controller?.abort(reason)
}

/** Returns the cancellation as an AbortSignal. */
export function signalOf(cancellation: Cancellation): AbortSignal {
  const controller = (cancellation.controller ??= new AbortController())
  if (cancellation.cancelled) controller.abort(cancellation.reason)
  return controller.signal
}
