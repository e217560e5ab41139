import { createHash, timingSafeEqual } from 'node:crypto'
import { parseDeploymentWebhook, type DeploymentHint } from '@muster/core'
import type { Clock } from '@muster/core/clock'
import { createWebhookDoor } from './webhook-door.js'
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

export function createWebhookReceiver({ clock, baseUrl, find, hinted }: WebhookReceiverOptions): WebhookReceiver {
  return {
    urlOf: ({ matchId, order }) =>
      baseUrl === undefined || order?.secret === undefined
        ? undefined
        : `${baseUrl.replace(/\/+$/, '')}/${matchId}/${order.secret}`,
    receive: createWebhookDoor({
      clock,
      /** By the last two segments of its path: match and secret. */
      find: (pathname) => {
        const [matchId = '', secret = ''] = pathname.split('/').slice(-2)
        const allocation = find(matchId)
        return isSecretOf(allocation, secret) ? allocation : undefined
      },
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

const digest = (text: string) => createHash('sha256').update(text).digest()

/**
 * Whether the server of the match was told this secret, by this process or an earlier one. Compared in a time that
 * tells nothing about where they differ.
 */
export function isSecretOf(allocation: Allocation | undefined, given: string): boolean {
  const secret = allocation?.order?.secret ?? allocation?.secret
  return secret !== undefined && timingSafeEqual(digest(given), digest(secret))
}
