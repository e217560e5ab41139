import { createManualClock } from '@muster/core/clock'
import { expect, test } from 'vitest'
import { createGroupStore } from './group-store.js'
import { createTicketApi } from './ticket-api.js'
import type { TicketApiOptions } from './api-options.js'
import type { TicketService } from '../commands.js'

const service = {} as TicketService
const authenticate = async () => undefined
const groups = createGroupStore({ clock: createManualClock(), idleMs: 1, mostGroups: 1, isAlive: () => true })

test.each([
  [{}, 'authenticate', 'option authenticate: must be a function, got nothing'],
  [{ authenticate: 'token' }, 'authenticate', 'option authenticate: must be a function, got a text'],
  [
    { authenticate, basePath: 'api' },
    'basePath',
    `option basePath: must be empty, or begin with '/' and not end with it, got "api"`,
  ],
  [
    { authenticate, basePath: '/api/' },
    'basePath',
    `option basePath: must be empty, or begin with '/' and not end with it, got "/api/"`,
  ],
  [{ authenticate, groupIdleMs: 0 }, 'groupIdleMs', expect.stringMatching(/^option groupIdleMs: .*, got 0$/)],
  [{ authenticate, limits: { waits: 0 } }, 'limits.waits', expect.stringMatching(/^option limits\.waits: .*, got 0$/)],
  [
    { authenticate, limits: { perCaller: { limit: 0, windowMs: 1 } } },
    'limits.perCaller.limit',
    expect.stringMatching(/, got 0$/),
  ],
  [
    { authenticate, limits: { bodyByte: 1 } },
    'limits.bodyByte',
    'option limits.bodyByte: is not known; did you mean bodyBytes?',
  ],
  [{ authenticate, store: 5 }, 'store', 'option store: must be made by openStore or createMemoryStore, got 5'],
  [
    { authenticate, store: { records: () => {} }, groups },
    'store',
    'option store: must not be given with groups, which keeps them elsewhere',
  ],
  [{ authenticate, trustProxy: true }, 'trustProxy', 'option trustProxy: is not known'],
])('the API options %j are refused', (options, field, message) => {
  const refusal = expect.objectContaining({ name: 'InvalidInput', field, message })
  expect(() => createTicketApi(service, options as unknown as TicketApiOptions)).toThrow(refusal)
})

test('the ticket API needs only the option `authenticate`, and its limits may be null or undefined', () => {
  expect(() => createTicketApi(service, { authenticate })).not.toThrow()
  expect(() => createTicketApi(service, { authenticate, limits: { perCaller: null, waits: undefined } })).not.toThrow()
})
