import { RouteMissing } from '@muster/core'
import { createManualClock, seededRandom } from '@muster/core/clock'
import { expect, test } from 'vitest'
import { createTestService } from '../../service.fixture.js'
import { silentListener } from '../silent-listener.fixture.js'
import { createServiceSource } from './service-source.js'

/** Orders the stop of a deployment at a service that answers each stop with a 404 without a message. */
async function stopRefused(endMs: number) {
  const clock = createManualClock()
  const service = createTestService({
    clock,
    fate: () => ({ readyMs: 0, endMs }),
    fault: (method) => (method === 'stop' ? { error: new RouteMissing('status 404') } : undefined),
  })
  const options = { ownTag: 'mm-a', readsPerSecond: 19, listLagMs: 5000, orphanGraceMs: Infinity }
  const source = createServiceSource({ ...options, service: service.deployments, clock, random: seededRandom(1) })(
    silentListener,
  )
  const { request_id: handle } = await service.add(['mm-a'])
  const run = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += 500) {
      source.watch(clock.now())
      source.advance(clock.now())
      await clock.advance(500)
    }
  }
  await run(60_000)
  source.stop({ handle, knownAt: clock.now(), by: 'test', confirmed: () => {} })
  await run(120_000)
  const pending = source.stopsPending()
  await run(240_000)
  return [pending, source.stopsPending()]
}

test('a stop answered by a 404 without a message is confirmed if the list no longer shows the server', async () => {
  expect(await stopRefused(30_000)).toEqual([0, 0])
})

test('a stop answered by a 404 without a message is repeated as long as the list shows the server', async () => {
  expect(await stopRefused(3_600_000)).toEqual([1, 1])
  // The list shows the server for two more minutes after the stop was ordered.
  expect(await stopRefused(180_000)).toEqual([1, 0])
})
