import { createManualClock, seededRandom } from '@muster/core/clock'
import { expect, test } from 'vitest'
import { createMatchmaker } from '../create-matchmaker.js'
import { duel } from '../matchmaker.fixture.js'
import { createTestService } from '@muster/hosting/service-fixture'

test('times in a ticket view are whole milliseconds for any clock', async () => {
  const manual = createManualClock()
  const clock = { now: () => manual.now() + 0.123_456, sleep: manual.sleep }
  const { deployments } = createTestService({ clock: manual })
  const acceptance = { withinMs: 1000 }
  const matchmaker = createMatchmaker({
    deployments,
    queues: [duel, { ...duel, name: 'asked', acceptance }],
    clock,
    random: seededRandom(1),
  })
  const told: unknown[] = []
  for (const name of ['ticketCreated', 'matchFound', 'serverAssigned', 'cancelled', 'ticketRequeued'] as const)
    matchmaker.on(name, (event) => told.push(event))
  for (const id of ['ann', 'ben', 'cleo', 'dan']) {
    matchmaker.createTicket({ id, queue: id < 'c' ? 'duel' : 'asked', players: [{ id, ip: '198.51.100.7' }] })
  }
  for (let step = 0; step < 40; step += 1) {
    await matchmaker.tick()
    told.push(matchmaker.inspect(), matchmaker.getTicket('ann'), matchmaker.getTicket('cleo'))
    await manual.advance(250)
  }
  expect(told.length).toBeGreaterThan(100)
  expect(JSON.stringify(told).match(/"\w+":\d{13}\.\d+/)?.[0]).toBeUndefined()
  await manual.until(matchmaker.close({ stopServers: true }))
})
