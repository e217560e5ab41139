import { NotFound } from '@muster/core'
import { createManualClock, seededRandom } from '@muster/core/clock'
import { expect, test } from 'vitest'
import { createTestService } from '../../service.fixture.js'
import { silentListener } from '../silent-listener.fixture.js'
import type { ServerChange } from '../source.js'
import type { DeploymentService } from './deployment-service.js'
import { createServiceSource } from './service-source.js'

const LIST_LAG_MS = 5000

/**
 * Creates a source whose service does not know a new deployment yet: it answers the first call of one method with
 * NotFound. The response arrives 8 s later, as if this process had been suspended.
 */
async function open(method: 'get' | 'stop') {
  const clock = createManualClock()
  const service = createTestService({ clock, fate: () => ({ readyMs: 0 }) })
  let isFirst = true
  const tooEarly = async () => {
    isFirst = false
    await clock.sleep(8000)
    throw new NotFound('no such deployment')
  }
  const late: DeploymentService = {
    ...service.deployments,
    get: (input, options) => (isFirst && method === 'get' ? tooEarly() : service.deployments.get(input, options)),
    stop: (input, options) => (isFirst && method === 'stop' ? tooEarly() : service.deployments.stop(input, options)),
    list: async () => ({ data: [], total_count: 0, pagination: { number: 1, has_next: false } }),
  }
  const changes: string[] = []
  const on = { ...silentListener, changed: ({ kind }: ServerChange) => changes.push(kind) }
  const source = createServiceSource({
    service: late,
    clock,
    random: seededRandom(1),
    ownTag: 'mm-a',
    readsPerSecond: 19,
    listLagMs: LIST_LAG_MS,
    orphanGraceMs: Infinity,
  })(on)
  const { request_id: handle } = await service.add(['mm-a'])
  const run = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += 500) {
      source.watch(clock.now())
      source.advance(clock.now())
      await clock.advance(500)
    }
  }
  return { clock, service, source, handle, changes, run }
}

test('a stop that the service rejects as unknown is repeated, however late the answer arrives', async () => {
  const { clock, service, source, handle, run } = await open('stop')
  const confirmed: number[] = []
  source.stop({ handle, knownAt: clock.now(), by: 'test', confirmed: () => confirmed.push(clock.now()) })
  await run(20_000)
  expect(service.unstopped()).toEqual([])
  expect(confirmed).toHaveLength(1)
})

test('a deployment does not count as ended if an early status read misses it, however late the answer', async () => {
  const { source, handle, changes, run } = await open('get')
  source.follow(handle, 'game')
  await run(20_000)
  expect(new Set(changes)).toEqual(new Set(['ready']))
})
