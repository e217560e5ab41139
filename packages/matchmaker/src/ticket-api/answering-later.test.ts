/*
 * All tests of the ticket API once more, over services that answer by promises: where tickets are kept by several
 * processes, every answer takes a while.
 */
import { describe } from 'vitest'
import { answerLater } from './ticket-api.fixture.js'

answerLater()

describe('over a service that answers later:', async () => {
  await import('./backend-tickets.test.js')
  await import('./backfills.test.js')
  await import('./body-checks.test.js')
  await import('./explanation.test.js')
  await import('./groups.test.js')
  await import('./large-players.test.js')
  await import('./me.test.js')
  await import('./parties.test.js')
  await import('./presence.test.js')
  await import('./playing.test.js')
  await import('./queues.test.js')
  await import('./request-limits.test.js')
  await import('./security.test.js')
  await import('./stream-tokens.test.js')
  await import('./ticket-api.test.js')
  await import('./tickets.test.js')
  await import('./waiting.test.js')
})
