import { Problem, problemResponse, type HttpHandler } from '@muster/core/http'

export interface WebhookReceivers {
  readonly servers: (request: Request) => Promise<Response>
  readonly relays: ((request: Request) => Promise<Response>) | undefined
}

/**
 * Answers the service's webhooks below `/webhooks`. Paths go on with what nobody can guess, which the receivers check;
 * what a body says is not believed.
 */
export function createWebhooks({ servers, relays }: WebhookReceivers): HttpHandler {
  return async (request) => {
    const [, , kind] = new URL(request.url).pathname.split('/', 3)
    if (kind === 'servers') return servers(request)
    if (kind === 'relays' && relays !== undefined) return relays(request)
    return problemResponse(new Problem(404, 'no-such-path', 'there is nothing at this path'))
  }
}
