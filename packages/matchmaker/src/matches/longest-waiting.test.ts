import { expect, test } from 'vitest'
import { createTestService } from '@muster/hosting/service-fixture'
import { createManualClock } from '@muster/core/clock'
import { createMatchmaker } from '../create-matchmaker.js'

test('the tickets that have waited longest come first, and all that search are counted', async () => {
  const clock = createManualClock()
  const queue = { name: 'trio', matchSize: 3, deploy: { application: 'game', version: '1' } }
  const { deployments } = createTestService({ clock })
  const matchmaker = createMatchmaker({ deployments, queues: [queue], clock })
  for (const id of ['ann', 'bob', 'eve']) {
    matchmaker.createTicket({ id, queue: 'trio', players: [{ id, ip: '192.0.2.1' }] })
    await clock.advance(10)
  }
  matchmaker.cancelTicket('bob')
  expect(matchmaker.longestWaiting(1)).toMatchObject({ total: 2, tickets: [{ id: 'ann' }] })
  expect(matchmaker.longestWaiting(5).tickets.map(({ id }) => id)).toEqual(['ann', 'eve'])
})
