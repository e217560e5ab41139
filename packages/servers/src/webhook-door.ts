import type { Clock } from '@muster/core/clock'
import { createBodies, Problem, problemResponse } from '@muster/core/http'

export interface WebhookDoorOptions<Found> {
  readonly clock: Clock
  /** Finds what the webhook at a path is about, before its body is read; undefined: there is no such webhook. */
  readonly find: (pathname: string) => Found | undefined
  /** Takes a webhook. @throws {Problem} the answer, if it is not taken */
  readonly take: (found: Found, body: Uint8Array) => void | Promise<void>
}

/** Bytes of a body that are read; a status view has some 2 KiB. */
const LARGEST_BODY = 64 * 1024
/** Bodies that may be unfinished at once. Only the service knows the paths, and calls each a few times. */
const MOST_BODIES = 256
/** Whose bodies they are: whoever knows a path. */
const SERVICE = 'service'

export const noSuchWebhook = () => new Problem(404, 'not-found', 'there is no such webhook')

/** Answers the service's webhooks: 204 if one is taken. Never rejects. */
export function createWebhookDoor<Found>(options: WebhookDoorOptions<Found>): (request: Request) => Promise<Response> {
  const { clock, find, take } = options
  const bodies = createBodies({ clock, perAddress: MOST_BODIES, inAll: MOST_BODIES })

  const receive = async (request: Request): Promise<Response> => {
    if (request.method !== 'POST') {
      throw new Problem(405, 'method-not-allowed', 'webhooks are posted', { headers: { allow: 'POST' } })
    }
    const found = find(new URL(request.url).pathname)
    if (found === undefined) throw noSuchWebhook()
    await take(found, await bodies.begin(request, LARGEST_BODY, SERVICE).bytes())
    return new Response(null, { status: 204 })
  }

  return async (request) => {
    try {
      return await receive(request)
    } catch (error) {
      return problemResponse(error instanceof Problem ? error : new Problem(500, 'internal', 'internal server error'))
    }
  }
}
