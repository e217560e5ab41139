import { createClient, type Client, type ClientOptions } from '@muster/core'
import type { Clock } from '@muster/core/clock'
import type { Config } from '../config/config.js'

export interface ServiceClientOptions {
  /** The section `service` as it is now: a new token counts from the next call on. */
  readonly section: () => Config['service']
  readonly clock: Clock
  /** Keeps the limits together with other processes. */
  readonly limiter?: ClientOptions['limiter'] | undefined
}

/** The client of the service, as the configuration describes it. */
export function createServiceClient({ section, clock, limiter }: ServiceClientOptions): Client {
  const { url, share, timeoutMs } = section()
  return createClient({ baseUrl: url, token: () => section().token.reveal(), share, timeoutMs, limiter, clock })
}
