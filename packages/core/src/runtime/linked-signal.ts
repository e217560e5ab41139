import { setMaxListeners } from 'node:events'

/** Creates a controller whose signal many may wait for; by default, Node.js warns of the eleventh listener. */
export function manyWaitOn(): AbortController {
  const controller = new AbortController()
  setMaxListeners(0, controller.signal)
  return controller
}

export interface LinkedSignal {
  readonly signal: AbortSignal
  /** Aborts the signal for another reason. */
  abort(reason?: unknown): void
  /** Removes the listeners from the linked signals. */
  unlink(): void
}

/**
 * Creates a signal that is aborted as soon as one of the given signals is. Unlike `AbortSignal.any` of Node.js 20, it
 * leaves nothing behind in long-lived signals.
 */
export function linkedSignal(...sources: readonly (AbortSignal | undefined)[]): LinkedSignal {
  const controller = manyWaitOn()
  const links = sources.flatMap((source) =>
    source === undefined ? [] : [{ source, onAbort: () => controller.abort(source.reason) }],
  )
  for (const { source, onAbort } of links) {
    if (source.aborted) onAbort()
    else source.addEventListener('abort', onAbort, { once: true })
  }
  return {
    signal: controller.signal,
    abort: (reason) => controller.abort(reason),
    unlink: () => {
      for (const { source, onAbort } of links) source.removeEventListener('abort', onAbort)
    },
  }
}
