import { type DeploymentHint, parseDeploymentWebhook } from '@muster/core'
import type { Clock } from '@muster/core/clock'
import { Problem } from '@muster/core/http'
import { createBodies, problemResponse } from '@muster/core/internal'
import type { Allocation } from './records/index.js'

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

interface WebhookReceiverOptions {
  readonly clock: Clock
  /** Public base URL; undefined for no webhooks. */
  readonly baseUrl: string | undefined
  /** The allocation whose deployment has this token. */
  readonly find: (token: string) => Allocation | undefined
  readonly tokenOf: (allocation: Allocation) => string
  /** @param hint what the body says, if it says anything. */
  readonly hinted: (allocation: Allocation, hint: DeploymentHint | undefined) => void
}

/** Answers the service's webhooks, at a path of its own for each match, which nobody else can guess. */
export function createWebhookReceiver({ clock, baseUrl, find, tokenOf, hinted }: WebhookReceiverOptions) {
  return {
    /** The webhook URL of this match; undefined if the service cannot reach us. */
    urlOf: (allocation: Allocation) => baseUrl && `${baseUrl.replace(/\/+$/, '')}/${tokenOf(allocation)}`,
    /** Answers 204 if the path is right: a webhook is a hint only, and the status is read. Never rejects. */
    receive: createWebhookDoor({
      clock,
      /** By the last segment of its path, the token of its server. */
      find: (pathname) => find(pathname.slice(pathname.lastIndexOf('/') + 1)),
      take: (allocation, body) => hinted(allocation, hintIn(body)),
    }),
  }
}

function hintIn(body: Uint8Array): DeploymentHint | undefined {
  try {
    return parseDeploymentWebhook(body)
  } catch {
    return undefined
  }
}
