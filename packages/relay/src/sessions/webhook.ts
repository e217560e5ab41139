import { Problem, problemResponse, readBytes } from '@muster/core/http'
import type { Hints } from './hints.js'

/** Bytes; our choice. A session of 64 users is described in under 16 KiB. */
const MAX_BODY_BYTES = 64 * 1024

/**
 * The receiver of the service's webhooks. The path alone says which session is meant, and only the service
 * knows it; the body is read to its end and believed in nothing, so a forged one does no harm. What arrives
 * is a hint to read the session now, whether early, twice, or never.
 * @param publicUrl the URL, as the service knows it, that the given request came to.
 */
export async function receiveWebhook(hints: Hints, request: Request, publicUrl: string): Promise<Response> {
  try {
    if (request.method !== 'POST')
      throw new Problem(405, 'method-not-allowed', 'this path has POST', { headers: { allow: 'POST' } })
    if (!hints.isExpected(publicUrl)) throw new Problem(404, 'no-such-path', 'there is nothing at this path')
    await readBytes(request, MAX_BODY_BYTES)
    hints.arrived(publicUrl)
    return new Response(null, { status: 204 })
  } catch (error) {
    if (error instanceof Problem) return problemResponse(error)
    throw error
  }
}
