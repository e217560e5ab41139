/**
 * How a call is told, inside the client, that nobody waits for it any more. An AbortSignal with its
 * listeners would cost as much as all other work on a call, so one is made only where something asks for it.
 */
export interface Cancellation {
  cancelled: boolean
  reason: unknown
  /** Called on cancellation. One at a time: a call is in one place at a time. */
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

/** The cancellation as an AbortSignal. */
export function signalOf(cancellation: Cancellation): AbortSignal {
  const controller = (cancellation.controller ??= new AbortController())
  if (cancellation.cancelled) controller.abort(cancellation.reason)
  return controller.signal
}
