import { Problem, problemResponse } from '@muster/core/http'
import type { Hints } from './hints.js'

/**
 * Receives the service's webhooks. The path alone identifies the session, and only the service knows it. The body is
 * not read, because nothing in it would be trusted. A webhook, whether early, repeated or missing, is only a hint to
 * read the session now.
 * @param publicUrl the URL, as the service knows it, to which the given request was sent.
 */
export function receiveWebhook(hints: Hints, request: Request, publicUrl: string): Response {
  try {
    if (request.method !== 'POST')
      throw new Problem(405, 'method-not-allowed', 'this path has POST', { headers: { allow: 'POST' } })
    if (!hints.isExpected(publicUrl)) throw new Problem(404, 'no-such-path', 'there is nothing at this path')
    hints.arrived(publicUrl)
    return new Response(null, { status: 204 })
  } catch (error) {
    if (error instanceof Problem) return problemResponse(error)
    throw error
  }
}
