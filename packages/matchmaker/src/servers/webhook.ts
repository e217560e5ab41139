import { createHash, timingSafeEqual } from 'node:crypto'
import { parseDeploymentWebhook, type DeploymentHint } from '@muster/core'
import type { Clock } from '@muster/core/clock'
import { createBodies, Problem, problemResponse } from '@muster/core/http'
import type { Allocation } from './records/allocation.js'

/** Answers the service's webhooks, at a path of its own for each match, which nobody else can guess. */
export interface WebhookReceiver {
  /** The webhook URL of this match; undefined if the service cannot reach us. */
  urlOf(allocation: Allocation): string | undefined
  /**
   * Answers 204 if the path is right, whatever the body says: a webhook is only a hint, and the status is read from the
   * service. Never rejects.
   */
  receive(request: Request): Promise<Response>
}

export interface WebhookReceiverOptions {
  readonly clock: Clock
  /** Public base URL; undefined for no webhooks. */
  readonly baseUrl: string | undefined
  readonly find: (matchId: string) => Allocation | undefined
  /** @param hint what the body says, if it says anything. */
  readonly hinted: (allocation: Allocation, hint: DeploymentHint | undefined) => void
}

/** Bytes of a body that are read; a status view has some 2 KiB. */
const LARGEST_BODY = 64 * 1024
/** Bodies that may be unfinished at once. Only the service knows the paths, and calls each a few times. */
const MOST_BODIES = 256
/** Whose bodies they are: whoever knows a path. */
const SERVICE = 'service'

export function createWebhookReceiver({ clock, baseUrl, find, hinted }: WebhookReceiverOptions): WebhookReceiver {
  const bodies = createBodies({ clock, perAddress: MOST_BODIES, inAll: MOST_BODIES })
  /** By the last two segments of its path: match and secret. */
  const matchOf = ({ url }: Request): Allocation | undefined => {
    const [matchId = '', secret = ''] = new URL(url).pathname.split('/').slice(-2)
    const allocation = find(matchId)
    return allocation !== undefined && isSecret(secret, allocation.order?.secret) ? allocation : undefined
  }

  const take = async (request: Request): Promise<Response> => {
    if (request.method !== 'POST') {
      throw new Problem(405, 'method-not-allowed', 'webhooks are posted', { headers: { allow: 'POST' } })
    }
    const allocation = matchOf(request)
    if (allocation === undefined) throw new Problem(404, 'not-found', 'there is no such webhook')
    hinted(allocation, hintIn(await bodies.begin(request, LARGEST_BODY, SERVICE).bytes()))
    return new Response(null, { status: 204 })
  }

  return {
    urlOf: ({ matchId, order }) =>
      baseUrl === undefined || order?.secret === undefined
        ? undefined
        : `${baseUrl.replace(/\/+$/, '')}/${matchId}/${order.secret}`,
    receive: async (request) => {
      try {
        return await take(request)
      } catch (error) {
        return problemResponse(error instanceof Problem ? error : new Problem(500, 'internal', 'internal server error'))
      }
    },
  }
}

function hintIn(body: Uint8Array): DeploymentHint | undefined {
  try {
    return parseDeploymentWebhook(body)
  } catch {
    return undefined
  }
}

const digest = (text: string) => createHash('sha256').update(text).digest()

/** Compares in a time that tells nothing about where they differ. @param secret undefined where nobody was told one. */
export const isSecret = (given: string, secret: string | undefined): boolean =>
  secret !== undefined && timingSafeEqual(digest(given), digest(secret))
