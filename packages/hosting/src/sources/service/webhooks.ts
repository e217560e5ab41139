import { parseDeploymentWebhook } from '@muster/core'
import type { Clock } from '@muster/core/clock'
import { Problem } from '@muster/core/http'
import { type Awaitable, createBodies, problemResponse, sameStatus } from '@muster/core/internal'
import type { ServerHint } from '../source.js'

export interface WebhookEndpointOptions<Found> {
  readonly clock: Clock
  /**
   * Finds the subject of a webhook by its path. Called before the body is read. Undefined if there is no such webhook.
   * @throws {Problem} the response, if the subject cannot be found now
   */
  readonly find: (pathname: string) => Awaitable<Found | undefined>
  /** Handles a webhook. @throws {Problem} the response, if the webhook is rejected */
  readonly accept: (found: Found, body: Uint8Array) => void | Promise<void>
  /** Called with the cause of each 500. */
  readonly failed: (error: unknown) => void
}

/** Maximum bytes of a body. The status of a deployment has some 2 KiB. */
const LARGEST_BODY = 64 * 1024
/** Maximum number of bodies that are being received. */
const MOST_BODIES = 256
/** All bodies count for one caller, because only the service knows the paths. */
const SERVICE = 'service'

export const noSuchWebhook = () => new Problem(404, 'not-found', 'There is no such webhook.')

/** Creates the handler of webhooks. It answers 204 to an accepted one. Never rejects. */
export function createWebhookEndpoint<Found>(
  options: WebhookEndpointOptions<Found>,
): (request: Request) => Promise<Response> {
  const { clock, find, accept, failed } = options
  const bodies = createBodies({ clock, perAddress: MOST_BODIES, inAll: MOST_BODIES })

  const receive = async (request: Request): Promise<Response> => {
    if (request.method !== 'POST') {
      throw new Problem(405, 'method-not-allowed', 'Method not allowed. Webhooks accept POST.', {
        headers: { allow: 'POST' },
      })
    }
    const found = await find(new URL(request.url).pathname)
    if (found === undefined) throw noSuchWebhook()
    await accept(found, await bodies.begin(request, LARGEST_BODY, SERVICE).bytes())
    return new Response(null, { status: 204 })
  }

  return async (request) => {
    try {
      return await receive(request)
    } catch (error) {
      if (error instanceof Problem) return problemResponse(error)
      failed(error)
      return problemResponse(new Problem(500, 'internal', 'Internal error. The server log has the cause.'))
    }
  }
}

interface WebhookReceiverOptions<Server> extends Pick<WebhookEndpointOptions<Server>, 'clock' | 'failed'> {
  readonly find: (token: string) => Server | undefined
  /** Called for each webhook. @param hint the content of the body. Undefined if it is unreadable */
  readonly hinted: (server: Server, hint: ServerHint | undefined) => void
}

/** Returns the URL for webhooks about the server with this token. Nobody else can guess it. */
export const webhookUrlOf = (baseUrl: string, token: string): string => `${baseUrl.replace(/\/+$/, '')}/${token}`

/** Returns the token in the path of a webhook: its last segment. */
export const webhookTokenIn = (pathname: string): string => pathname.slice(pathname.lastIndexOf('/') + 1)

/** Creates the handler of webhooks about deployments. A webhook only causes a read of the status. Never rejects. */
export const createWebhookReceiver = <Server>({ find, hinted, ...options }: WebhookReceiverOptions<Server>) =>
  createWebhookEndpoint({
    ...options,
    find: (pathname) => find(webhookTokenIn(pathname)),
    accept: (server, body) => hinted(server, hintIn(body)),
  })

function hintIn(body: Uint8Array): ServerHint | undefined {
  try {
    const { request_id: handle, current_status: status } = parseDeploymentWebhook(body)
    return { handle, isReady: status !== undefined && sameStatus(status, 'READY') }
  } catch {
    return undefined
  }
}
