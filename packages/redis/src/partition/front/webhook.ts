import type { Clock } from '@muster/core/clock'
import { createBodies, Problem, problemResponse } from '@muster/core/http'

export interface WebhookOptions {
  readonly clock: Clock
  /** Asks the leader, and resolves with the status of its answer. */
  readonly ask: (path: string, body: string) => Promise<number>
}

/** Bytes of a body that are read; a status view has some 2 KiB. */
const LARGEST_BODY = 64 * 1024
/** Bodies that may be unfinished at once. Only the service knows the paths, and calls each a few times. */
const MOST_BODIES = 256
const LONGEST_PATH = 1024

/**
 * Takes the service's webhooks where another process leads: the leader knows which paths are right. A webhook is only a
 * hint, so one that gets lost costs time and nothing else.
 */
export function createWebhook({ clock, ask }: WebhookOptions): (request: Request) => Promise<Response> {
  const bodies = createBodies({ clock, perAddress: MOST_BODIES, inAll: MOST_BODIES })

  const take = async (request: Request): Promise<Response> => {
    if (request.method !== 'POST')
      throw new Problem(405, 'method-not-allowed', 'webhooks are posted', { headers: { allow: 'POST' } })
    const { pathname } = new URL(request.url)
    if (pathname.length > LONGEST_PATH) throw new Problem(404, 'not-found', 'there is no such webhook')
    const bytes = await bodies.begin(request, LARGEST_BODY, 'service').bytes()
    const status = await ask(pathname, new TextDecoder().decode(bytes))
    if (status !== 204) throw new Problem(404, 'not-found', 'there is no such webhook')
    return new Response(null, { status })
  }

  return async (request) => {
    try {
      return await take(request)
    } catch (error) {
      return problemResponse(
        error instanceof Problem ? error : new Problem(503, 'no-leader', 'nobody takes webhooks at the moment'),
      )
    }
  }
}
