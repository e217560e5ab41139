import { createManualClock, seededRandom } from '@muster/core/clock'
import { expect, test } from 'vitest'
import { createTestService } from '../service.fixture.js'
import { createStops } from './stops.js'

test('a stop ordered twice is requested once, and both callers are notified once it is confirmed', async () => {
  const clock = createManualClock()
  const service = createTestService({ clock, latencyMs: () => 100, fate: () => ({ readyMs: 0 }) })
  const created = service.add([])
  await clock.advance(1000)
  const { request_id: handle } = await created
  const stops = createStops({
    request: (handle) => service.deployments.stop({ request_id: handle }),
    clock,
    random: seededRandom(1),
    on: { stopped: () => {}, unstopped: () => {}, problem: () => {} },
  })
  const told: string[] = []
  const order = (by: string) => stops.order({ handle, knownAt: clock.now(), by, confirmed: () => told.push(by) })
  order('the reaper')
  order('the match')
  order('the match')
  await clock.advance(1000)
  expect(told).toEqual(['the reaper', 'the match'])
  expect(service.calls.stop).toHaveLength(1)
  expect(stops.pending()).toBe(0)
})
