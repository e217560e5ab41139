import { Problem, problemResponse } from '@muster/core/http'
import type { Hints } from './hints.js'

/**
 * The receiver of the service's webhooks. The path alone says which session is meant, and only the service
 * knows it. The body is not read: nothing in it would be believed. What arrives is a hint to read the session now,
 * whether early, twice, or never.
 * @param publicUrl the URL, as the service knows it, that the given request came to.
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
