import { expect, test } from 'vitest'
import { createTestService } from '@muster/hosting/service-fixture'
import { createManualClock } from '@muster/core/clock'
import { createMatchmaker } from '../create-matchmaker.js'

test('longestWaiting lists the longest-waiting tickets first, with a count of all searching tickets', async () => {
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
