import { createHash, timingSafeEqual } from 'node:crypto'
import type { RequestListener } from 'node:http'
import type { Clock } from '@muster/core/clock'
import { bearerToken, nodeListener, Problem } from '@muster/core/http'
import { addressBlock, createAttempts, problemResponse } from '@muster/core/internal'
import type { Metrics, MetricsOptions } from '../../telemetry/metrics.js'

interface MetricsEndpointOptions {
  /** Resolves with the metrics once they can be scraped. */
  readonly metrics: () => Promise<Metrics>
  /** Refreshes measurements that are too slow to read during a scrape. */
  readonly beforeScrape?: (() => Promise<void>) | undefined
  /** Returns the bearer token that a scrape needs; undefined if the current configuration has none. */
  readonly key: () => string | undefined
  /** Returns true if everybody may scrape while there is no key. */
  readonly isOpen: () => boolean
  readonly clock: Clock
}

/**
 * Limit of scrapes per address (our choice), because each scrape reads every ticket. Requests with a wrong key have the
 * same limit, and are counted apart.
 */
const SCRAPES = { limit: 20, windowMs: 10_000 }

/** Creates the listener that answers scrapes. It checks the token and limits the rate. */
export function createMetricsEndpoint({
  metrics,
  beforeScrape,
  key,
  isOpen,
  clock,
}: MetricsEndpointOptions): RequestListener {
  const attempts = createAttempts({ ...SCRAPES, clock, maxKeys: 1000 })
  const refuse = (problem: Problem) => nodeListener(async () => problemResponse(problem))
  const tooMany = refuse(
    new Problem(429, 'too-many-requests', 'Too many scrapes. Retry after 10 s.', { retryAfterMs: 10_000 }),
  )
  const unknown = refuse(
    new Problem(401, 'unauthorized', 'Metrics require their key. Send `Authorization: Bearer <key>`.', {
      headers: { 'www-authenticate': 'Bearer' },
    }),
  )
  const withoutKey = refuse(
    new Problem(
      403,
      'metrics-closed',
      'Metrics are closed. Set telemetry.metrics.key, telemetry.metrics.open or listen.admin.',
    ),
  )

  return (message, response) => {
    const address = addressBlock(message.socket.remoteAddress ?? '')
    const wanted = key()
    const headers = { authorization: message.headers.authorization ?? '' }
    const given = bearerToken(new Request('http://localhost/', { headers })) ?? ''
    if (wanted === undefined && !isOpen()) return withoutKey(message, response)
    const isUnknown = wanted !== undefined && !isSame(given, wanted)
    // Wrong keys are counted apart: behind a proxy, strangers have the same address as the scraper.
    if (attempts.take(isUnknown ? `wrong ${address}` : address) > 0) return tooMany(message, response)
    if (isUnknown) return unknown(message, response)
    void scrape().catch(() => response.destroy())

    async function scrape() {
      await beforeScrape?.()
      const { serve } = await metrics()
      serve(message, response)
    }
  }
}

const isSame = (given: string, wanted: string) => timingSafeEqual(digestOf(given), digestOf(wanted))
const digestOf = (text: string) => createHash('sha256').update(text).digest()

/**
 * Metrics whose libraries are loaded after the program listens, because they take longer to load than everything else.
 */
export type LazyMetrics = ReturnType<typeof createLazyMetrics>

export function createLazyMetrics(options: MetricsOptions) {
  let loading: Promise<Metrics> | undefined
  const load = async () => (await import('../../telemetry/metrics.js')).createMetrics(options)
  const metrics = () => (loading ??= load())
  return {
    // A failure is ignored here, because the next scrape reports it.
    start: () => void metrics().catch(() => {}),
    /** Resolves with the metrics. Starts measuring if needed. */
    metrics,
    close: async () => {
      if (loading !== undefined) await (await loading).close()
    },
  }
}
