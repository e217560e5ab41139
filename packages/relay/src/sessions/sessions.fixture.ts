import { createManualClock, seededRandom } from '@muster/core/clock'
import { createFakeService, type FaultRule } from '../fake-service.fixture.js'
import { within } from '../within.fixture.js'
import type { RelaySessionsOptions } from './session-options.js'
import { createRelaySessions } from './sessions.js'

export const players = [
  { id: 'ann', ip: '192.0.2.1' },
  { id: 'bob', ip: '::ffff:192.0.2.1' },
  { id: 'cleo', ip: '2001:DB8::1' },
]
export const dora = { id: 'dora', ip: '192.0.2.1' }

export function setUp({ faults = [], ...options }: Partial<RelaySessionsOptions> & { faults?: FaultRule[] } = {}) {
  const clock = createManualClock()
  const random = seededRandom(7)
  const webhooks: string[] = []
  const service = createFakeService({
    clock,
    random,
    faults,
    readyAfterMs: 2000,
    onWebhook: (url) => webhooks.push(url),
  })
  const sessions = createRelaySessions({
    client: service,
    clock,
    randomInt: (max) => Math.floor(random() * max),
    ...options,
  })
  return { clock, service, sessions, webhooks, within: <T>(promise: Promise<T>) => within(clock, promise) }
}

export const failing = (promise: Promise<unknown>) =>
  promise.then(
    () => 'no error',
    (error: unknown) => error,
  )
