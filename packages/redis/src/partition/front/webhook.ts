import type { Clock } from '@muster/core/clock'
import { Problem } from '@muster/core/http'
import { createWebhookDoor, noSuchWebhook } from '@muster/matchmaker/partition'

export interface WebhookOptions {
  readonly clock: Clock
  /** Asks the leader, and resolves with the status of its answer. */
  readonly ask: (path: string, body: string) => Promise<number>
}

const LONGEST_PATH = 1024

/**
 * Takes the service's webhooks where another process leads: the leader knows which paths are right. A webhook is only a
 * hint, so one that gets lost costs time and nothing else.
 */
export const createWebhook = ({ clock, ask }: WebhookOptions): ((request: Request) => Promise<Response>) =>
  createWebhookDoor({
    clock,
    find: (pathname) => (pathname.length > LONGEST_PATH ? undefined : pathname),
    take: async (pathname, body) => {
      const status = await ask(pathname, new TextDecoder().decode(body)).catch(() => {
        throw new Problem(503, 'no-leader', 'nobody takes webhooks at the moment')
      })
      if (status !== 204) throw noSuchWebhook()
    },
  })
