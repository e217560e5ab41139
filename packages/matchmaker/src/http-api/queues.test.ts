import { expect, test } from 'vitest'
import type { QueueDefinition } from '../queues/queue.js'
import { setUp, setUpReal } from './ticket-api.fixture.js'

const deploy = { application: 'game', version: '1' }
const trio: QueueDefinition = { name: 'trio', matchSize: 3, expireAfterMs: 600_000, deploy }
const berlin = { latitude: 52.5, longitude: 13.4 }
const denver = { latitude: 39.7, longitude: -105 }
const locate = (ip: string) => (ip.startsWith('203.0.113.') ? berlin : denver)

/** A player arrives every two seconds, and a tick follows two seconds after each arrival. */
async function busy(queues: readonly QueueDefinition[] = [trio]) {
  const world = setUpReal(queues, { locate, limits: { perAddress: null, perCaller: null } })
  const { call, clock, service } = world
  let came = 0
  const come = (where = berlin, queue = 'trio') => {
    came += 1
    const player = { player_id: `p${came}`, coordinates: where }
    return call('backend', 'POST', '/tickets', { profile: queue, ...player })
  }
  const pass = async (ms: number) => {
    await clock.advance(ms)
    await service.tick()
  }
  const days = async (players: number, where = berlin) => {
    for (let player = 0; player < players; player += 1) {
      await come(where)
      await pass(2000)
    }
  }
  return { ...world, come, pass, days }
}

interface Waits {
  readonly estimated_wait: { readonly p50_seconds: number; readonly p90_seconds: number | null } | null
}
interface Queues {
  readonly queues: readonly Waits[]
}
const estimateIn = (json: unknown) => (json as Waits).estimated_wait

test('a ticket shows its estimated remaining wait once enough tickets were matched', async () => {
  const { come, days, pass, call } = await busy()
  const first = await come()
  expect(estimateIn(first.json)).toBeNull()
  await days(59)
  const { json } = await come()
  const atFirst = estimateIn(json)
  // In a match of three, the first player waits 6 s, the second 4 s and the third 2 s.
  expect(atFirst?.p50_seconds).toBeGreaterThanOrEqual(4)
  expect(atFirst?.p50_seconds).toBeLessThan(4.3)
  expect(atFirst?.p90_seconds).toBeGreaterThanOrEqual(6)
  expect(atFirst?.p90_seconds).toBeLessThan(6.6)
  const { id } = json as { id: string }
  await pass(2500)
  const later = await call('backend', 'GET', `/tickets/${id}`)
  expect(later.json).toMatchObject({ status: 'SEARCHING' })
  // Of the tickets that have waited for 2.5 s, half are matched at 4 s and the others at 6 s.
  expect(estimateIn(later.json)?.p50_seconds).toBeGreaterThan(1.4)
  expect(estimateIn(later.json)?.p50_seconds).toBeLessThan(3.6)
  expect(estimateIn(later.json)?.p90_seconds).toBeGreaterThanOrEqual(3.5)
  expect(estimateIn(later.json)?.p90_seconds).toBeLessThan(4.1)
})

test('a ticket has a null estimate after an unusually long wait, and no estimate once it is matched', async () => {
  const { come, days, pass, call } = await busy()
  await days(60)
  const { id } = (await come()).json as { id: string }
  await pass(200_000)
  expect(estimateIn((await call('backend', 'GET', `/tickets/${id}`)).json)).toBeNull()
  await come()
  await come()
  await pass(250)
  const { json } = await call('backend', 'GET', `/tickets/${id}`)
  expect(json).toMatchObject({ status: 'MATCH_FOUND' })
  expect(json).not.toHaveProperty('estimated_wait')
})

test('GET /queues shows waiting players in coarse steps, and the estimated wait for the caller’s region', async () => {
  const { come, days, call } = await busy([trio, { name: 'empty', matchSize: 2, deploy }])
  expect((await call('ann', 'GET', '/queues')).json).toEqual({
    queues: ['trio', 'empty'].map((profile) => ({
      profile,
      tickets_waiting: 0,
      players_waiting: 0,
      paused: false,
      estimated_wait: null,
    })),
  })
  await days(60)
  for (let each = 0; each < 7; each += 1) await come()
  const seenBy = async (who: string) =>
    ((await call(who, 'GET', '/queues', undefined, { from: '203.0.113.9' })).json as Queues).queues[0]
  const [ofPlayer, ofBackend] = [await seenBy('ann'), await seenBy('backend')]
  expect(ofPlayer).toMatchObject({ profile: 'trio', tickets_waiting: 5, players_waiting: 5 })
  expect(ofBackend).toMatchObject({ profile: 'trio', tickets_waiting: 7, players_waiting: 7 })
  expect(estimateIn(ofPlayer)?.p50_seconds).toBeGreaterThan(1)
  expect(estimateIn(ofBackend)?.p50_seconds).toBeGreaterThan(1)
})

test('the estimated waits of a queue differ by the region of the caller', async () => {
  const near: QueueDefinition = { ...trio, rules: [{ kind: 'distance', maxKm: 500 }] }
  const { come, pass, call } = await busy([near])
  for (let round = 0; round < 120; round += 1) {
    await come(berlin)
    if (round % 3 === 0) await come(denver)
    await pass(2000)
  }
  const estimateFrom = async (from: string) => {
    const { json } = await call('ann', 'GET', '/queues', undefined, { from })
    return estimateIn((json as Queues).queues[0])?.p50_seconds ?? 0
  }
  const [inBerlin, inDenver] = [await estimateFrom('203.0.113.9'), await estimateFrom('192.0.2.9')]
  expect(inBerlin).toBeLessThan(6)
  expect(inDenver).toBeGreaterThan(1.5 * inBerlin)
})

test('a paused queue has no estimated wait, and the pause does not count as wait time', async () => {
  const { come, days, pass, call } = await busy()
  await days(60)
  const before = estimateIn((await come()).json)
  await call('backend', 'POST', '/queues/trio/pause')
  const { id } = (await come()).json as { id: string }
  await pass(300_000)
  expect(estimateIn((await call('backend', 'GET', `/tickets/${id}`)).json)).toBeNull()
  expect((await call('ann', 'GET', '/queues')).json).toMatchObject({ queues: [{ paused: true, estimated_wait: null }] })
  await call('backend', 'POST', '/queues/trio/resume')
  await come()
  await pass(2000)
  const after = estimateIn((await come()).json)
  expect(after?.p50_seconds).toBeCloseTo(before?.p50_seconds ?? 0, 0)
})

test('estimated waits of a region are computed once a second, for any number of requests', async () => {
  const { call, clock, service } = setUp({ limits: { perAddress: null } })
  let looks = 0
  const { estimateQueueWaits } = service
  Object.assign(service, { estimateQueueWaits: () => ((looks += 1), estimateQueueWaits()) })
  for (let player = 0; player < 100; player += 1) await call(`p${player}`, 'GET', '/queues')
  expect(looks).toBe(1)
  await clock.advance(1000)
  await call('ann', 'GET', '/queues')
  expect(looks).toBe(2)
})

test('GET /queues is refused to a caller with unknown credentials', async () => {
  const { call } = setUp()
  expect((await call(undefined, 'GET', '/queues')).status).toBe(401)
})
