import { parseDeploymentWebhook } from '@muster/core'
import type { Clock } from '@muster/core/clock'
import { Problem } from '@muster/core/http'
import { createBodies, problemResponse, sameStatus } from '@muster/core/internal'
import type { ServerHint } from './source.js'

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
/** All bodies count as one caller's: only the service knows the paths. */
const SERVICE = 'service'

export const noSuchWebhook = () => new Problem(404, 'not-found', 'There is no such webhook.')

/** Answers the service's webhooks: 204 if one is taken. Never rejects. */
export function createWebhookDoor<Found>(options: WebhookDoorOptions<Found>): (request: Request) => Promise<Response> {
  const { clock, find, take } = options
  const bodies = createBodies({ clock, perAddress: MOST_BODIES, inAll: MOST_BODIES })

  const receive = async (request: Request): Promise<Response> => {
    if (request.method !== 'POST') {
      throw new Problem(405, 'method-not-allowed', 'Method not allowed. Webhooks accept POST.', {
        headers: { allow: 'POST' },
      })
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
      return problemResponse(
        error instanceof Problem
          ? error
          : new Problem(500, 'internal', 'Internal error. The server log has the cause.'),
      )
    }
  }
}

interface WebhookReceiverOptions<Server> {
  readonly clock: Clock
  /** The server that has this token. */
  readonly find: (token: string) => Server | undefined
  /** @param hint what the body says, if it says anything. */
  readonly hinted: (server: Server, hint: ServerHint | undefined) => void
}

/** The URL at which the service tells of the server with this token, which nobody else can guess. */
export const webhookUrlOf = (baseUrl: string, token: string): string => `${baseUrl.replace(/\/+$/, '')}/${token}`

/** Answers 204 if the path of a webhook is right: each is a hint only, and the status is read. Never rejects. */
export const createWebhookReceiver = <Server>({ clock, find, hinted }: WebhookReceiverOptions<Server>) =>
  createWebhookDoor({
    clock,
    /** By the last segment of its path, the token of its server. */
    find: (pathname) => find(pathname.slice(pathname.lastIndexOf('/') + 1)),
    take: (server, body) => hinted(server, hintIn(body)),
  })

function hintIn(body: Uint8Array): ServerHint | undefined {
  try {
    const { request_id: handle, current_status: status } = parseDeploymentWebhook(body)
    return { handle, isReady: status !== undefined && sameStatus(status, 'READY') }
  } catch {
    return undefined
  }
}
