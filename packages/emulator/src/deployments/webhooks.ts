import { type Clock, systemClock } from '@muster/core/clock'
import type { Counters } from '../counters.js'
import type { DeploymentSettings } from '../settings.js'
import type { Timers } from '../timers.js'

/**
 * A fault of the webhooks of one deployment or relay session:
 * - `lost`: webhooks are never sent.
 * - `early`: the deployment or session becomes ready immediately, and its webhook is answered before the create
 *   request.
 * - `repeated`: each webhook is sent twice.
 * - `forged`: as soon as the deployment or session exists, an attacker posts to its ready webhook that it is ready,
 *   with another server's address.
 * - `{ lateMs }`: each webhook is sent that many milliseconds of simulated time after the event, with the state at
 *   the event.
 */
export type WebhookFault = 'lost' | 'early' | 'repeated' | 'forged' | { readonly lateMs: number }

/** Calls webhooks like the service does: POST, unsigned, with a timeout, never repeated (public facts). */
export interface Webhooks {
  /** Posts the present state of the body. Resolves once the call is over, whether it succeeded or not. */
  send(url: string, body: object): Promise<void>
  /** Aborts all running calls. No further calls are made. */
  close(): void
}

export interface WebhookSenderOptions extends Pick<
  DeploymentSettings,
  'webhookHosts' | 'webhookTimeoutMs' | 'webhookConcurrency'
> {
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>
  readonly counters: Counters['webhooks']
  /** The clock of the timeout. Default: the system's clock, because the network is not sped up. */
  readonly clock?: Clock
}

/** The abort reason. It is a constant, because creating an error with a stack for every call is slow. */
const answered = Symbol('answered')

interface WebhookCall {
  readonly url: string
  readonly body: string
  readonly over: () => void
}

/** Returns true if the URL's host is this machine. The URL class normalizes addresses: 0x7f.1 becomes 127.0.0.1. */
export const isLoopback = (url: string): boolean => /^(127(\.\d+){3}|\[::1\]|localhost)$/.test(new URL(url).hostname)

export function createWebhooks({ fetch, counters, clock = systemClock, ...settings }: WebhookSenderOptions): Webhooks {
  const waiting: WebhookCall[] = []
  const underWay = new Set<AbortController>()
  let closed = false

  const call = async ({ url, body }: WebhookCall, givingUp: AbortController) => {
    const over = new AbortController()
    void clock.sleep(settings.webhookTimeoutMs, over.signal).then(
      () => givingUp.abort(),
      () => {},
    )
    counters.sent++
    try {
      const headers = { 'content-type': 'application/json' }
      // Redirects are not followed, because they could lead away from this machine.
      const response = await fetch(url, { method: 'POST', headers, body, redirect: 'manual', signal: givingUp.signal })
      void response.body?.cancel().catch(() => {})
      if (response.ok) counters.delivered++
      else counters.failed++
    } catch {
      counters.failed++
    } finally {
      over.abort(answered)
    }
  }

  const startNext = () => {
    const next = underWay.size < settings.webhookConcurrency ? waiting.shift() : undefined
    if (next === undefined) return
    const givingUp = new AbortController()
    underWay.add(givingUp)
    void call(next, givingUp).then(() => {
      underWay.delete(givingUp)
      next.over()
      startNext()
    })
  }

  return {
    send: (url, body) =>
      new Promise((resolve) => {
        if (closed) return resolve()
        if (settings.webhookHosts === 'loopback' && !isLoopback(url)) {
          counters.refused++
          return resolve()
        }
        waiting.push({ url, body: JSON.stringify(body), over: resolve })
        startNext()
      }),
    close: () => {
      closed = true
      for (const { over } of waiting.splice(0)) over()
      for (const givingUp of underWay) givingUp.abort()
    },
  }
}

/** Sends a webhook, with its declared fault if it has one. Resolves once all calls are over. */
export async function sendDespite(
  fault: WebhookFault | undefined,
  webhooks: Webhooks,
  timers: Timers,
  url: string,
  body: object,
): Promise<void> {
  if (fault === 'lost') return
  if (fault === 'repeated') await Promise.all([webhooks.send(url, body), webhooks.send(url, body)])
  else if (typeof fault === 'object') timers.after(fault.lateMs, () => void webhooks.send(url, body))
  else await webhooks.send(url, body)
}
