import { setMaxListeners } from 'node:events'

/** A controller for the end of something on which many wait; without it, Node warns of the eleventh. */
export function manyWaitOn(): AbortController {
  const controller = new AbortController()
  setMaxListeners(0, controller.signal)
  return controller
}

export interface LinkedSignal {
  readonly signal: AbortSignal
  /** Aborts it for a reason of one's own. */
  abort(reason?: unknown): void
  /** Lets go of the signals it was made of. */
  unlink(): void
}

/**
 * A signal that is aborted as soon as one of these is. Like `AbortSignal.any`, which in Node 20 leaves
 * something behind in a long-lived signal each time; this one is let go of.
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
