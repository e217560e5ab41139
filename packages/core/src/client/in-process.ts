import type { Dispatcher } from 'undici'

/** The part of an undici dispatcher that a client uses. */
export type ClientDispatcher = Pick<Dispatcher, 'dispatch'>

/**
 * A dispatcher that passes requests to a function of this process instead of the network, e.g. to an emulator's
 * `fetch`. For tests on a manual clock, because a real connection would not wait for the clock.
 */
export function inProcess(handle: (request: Request) => Promise<Response>): ClientDispatcher {
  return {
    dispatch: ({ origin, path, method, headers, body }, handler) => {
      const controller = {
        aborted: false,
        paused: false,
        reason: null as Error | null,
        abort: (reason: Error): void => {
          controller.aborted = true
          controller.reason ??= reason
        },
        pause: () => {},
        resume: () => {},
      }
      const answer = async () => {
        const request = new Request(new URL(path, origin), {
          method,
          headers: pairs(headers),
          body: typeof body === 'string' ? body : null,
        })
        const response = await handle(request)
        const bytes = Buffer.from(await response.arrayBuffer())
        if (controller.aborted) return
        handler.onResponseStart?.(
          controller,
          response.status,
          Object.fromEntries(response.headers),
          response.statusText,
        )
        if (bytes.length > 0) handler.onResponseData?.(controller, bytes)
        handler.onResponseEnd?.(controller, {})
      }
      handler.onRequestStart?.(controller, {})
      if (controller.aborted) return true
      answer().catch((error: unknown) =>
        handler.onResponseError?.(controller, error instanceof Error ? error : new Error(String(error))),
      )
      return true
    },
  }
}

/** The client sends a flat list of names and values, alternating. */
function pairs(headers: unknown): [name: string, value: string][] {
  const list = headers as readonly string[]
  return Array.from({ length: list.length / 2 }, (_, index) => [
    list[2 * index] as string,
    list[2 * index + 1] as string,
  ])
}
