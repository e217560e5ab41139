import { RouteMissing } from '@muster/core'
import { createManualClock, seededRandom } from '@muster/core/clock'
import { expect, test } from 'vitest'
import { createTestService } from '../../service.fixture.js'
import type { SourceListener } from '../source.js'
import { createServiceSource } from './service-source.js'

const nothing = () => {}
const on: SourceListener = {
  changed: nothing,
  seen: () => true,
  late: nothing,
  absent: nothing,
  reaped: nothing,
  answered: nothing,
  unanswered: nothing,
  stopped: nothing,
  unstopped: nothing,
  problem: nothing,
}

/** Orders the stop of a deployment at a service that answers each stop by a 404 without a message. */
async function stopRefused(endMs: number) {
  const clock = createManualClock()
  const service = createTestService({
    clock,
    fate: () => ({ readyMs: 0, endMs }),
    fault: (method) => (method === 'stop' ? { error: new RouteMissing('status 404') } : undefined),
  })
  const options = { ownTag: 'mm-a', readsPerSecond: 19, listLagMs: 5000, orphanGraceMs: Infinity }
  const source = createServiceSource({ ...options, service: service.deployments, clock, random: seededRandom(1) })(on)
  const { request_id: handle } = await service.add(['mm-a'])
  const run = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += 500) {
      source.watch(clock.now())
      source.advance(clock.now())
      await clock.advance(500)
    }
  }
  await run(60_000)
  source.stop({ handle, knownAt: clock.now(), by: 'test', confirmed: nothing })
  await run(120_000)
  return source.stopsPending()
}

test('a stop answered by a 404 without a message is confirmed if the list no longer shows the server', async () => {
  expect(await stopRefused(30_000)).toBe(0)
})

test('a stop answered by a 404 without a message is repeated if the list has shown the server since', async () => {
  expect(await stopRefused(3_600_000)).toBe(1)
  expect(await stopRefused(140_000)).toBe(1)
})
