import { createMemoryStore, type PoolDefinition, type StoreMemory } from '@muster/hosting'
import { createTestAllocator } from '@muster/hosting/allocator-fixture'
import { RegistrationBody, ReportBody } from '@muster/hosting/internal'
import { ServerError } from '@muster/core'
import { createManualClock } from '@muster/core/clock'
import { describe, expect, test } from 'vitest'
import { setUp } from './matchmaker.fixture.js'

const place = { name: 'Oslo', latitude: 59.9, longitude: 10.7 }
const metal: PoolDefinition = {
  name: 'arena',
  source: 'metal',
  deploy: { application: 'game', version: '1' },
  places: [place],
  reuse: { maxMatches: 20 },
}
const queues = [{ name: 'duel', matchSize: 2, pool: 'arena' }]

type Faults = Parameters<typeof createTestAllocator>[0]['fault']

/** A matchmaker whose pool has servers of an allocator, which register once they run and accept each match. */
function open({
  pool = metal,
  fault,
  memory,
  readyMs,
}: { pool?: PoolDefinition; fault?: Faults; memory?: StoreMemory; readyMs?: number } = {}) {
  let allocation: ReturnType<typeof createTestAllocator> | undefined
  /** Until this resolves, polls get no answer. */
  const answers: { late?: Promise<void> } = {}
  const world = setUp({
    queues,
    pools: [pool],
    sources: {
      metal: {
        allocate: (wanted, options) => own().allocator.allocate(wanted, options),
        poll: async (ids, options) => {
          const found = await own().allocator.poll(ids, options)
          await answers.late
          return found
        },
        stop: (id, options) => own().allocator.stop(id, options),
      },
    },
    ...(memory && { store: createMemoryStore(memory) }),
  })
  const own = () =>
    (allocation ??= createTestAllocator({ clock: world.clock, fault, ...(readyMs !== undefined && { readyMs }) }))
  const seqs = new Map<string, number>()
  const report = async () => {
    for (const id of own().running()) {
      const server = own().servers.get(id)
      if (server === undefined || world.clock.now() < server.at + 2000) continue
      const token = server.wanted.environment['MUSTER_SERVER_TOKEN'] ?? ''
      const instance = `instance-${id}`
      if (!seqs.has(id)) world.matchmaker.registerServer(token, RegistrationBody.parse({ instance }))
      for (let again = 0; again < 2; again += 1) {
        const seq = (seqs.get(id) ?? 0) + 1
        seqs.set(id, seq)
        const matches = orders.get(id)?.map((matchId) => ({ id: matchId, status: 'open' })) ?? []
        const answer = await world.matchmaker.reportServer(token, ReportBody.parse({ instance, seq, matches }))
        orders.set(
          id,
          answer.matches.map((match) => match.id),
        )
      }
    }
  }
  const orders = new Map<string, readonly string[]>()
  const run = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += 500) {
      await world.run(500)
      await report()
    }
  }
  return { ...world, own, run, answers }
}

describe('a pool with servers from a custom source', () => {
  test('a pool with a custom source serves matches without any request to the deployment service', async () => {
    const { join, run, status, seen, own, service } = open()
    await join('ann')
    await join('ben')
    await run(6000)
    expect([status('ann'), status('ben')]).toEqual(['HOST_ASSIGNED', 'HOST_ASSIGNED'])
    const [id] = own().running()
    expect(seen.serverAssigned?.[0]?.assignment).toMatchObject({
      fqdn: `${id}.example.com`,
      ports: { game: { external: 7777, protocol: 'UDP' } },
    })
    expect(own().servers.get(id ?? '')?.wanted).toMatchObject({
      application: 'game',
      version: '1',
      environment: { MUSTER_POOL: 'arena' },
    })
    expect(service.calls.create).toEqual([])
  })

  test('explain says that the address of a registered server is awaited, until its source gives it', async () => {
    const { join, run, matchmaker, own } = open({
      pool: { ...metal, at: [{ cron: '* * * * *', minutes: 2, min: 1 }] },
      readyMs: 20_000,
    })
    await run(5000)
    expect(own().running()).toHaveLength(1)
    await join('ann')
    await join('ben')
    await run(1000)
    const { summary } = matchmaker.explain('ann')
    expect(summary).toMatch(
      /^Its match is found\. A server was taken \d s ago, but its source has not given its address yet\.$/,
    )
  })

  test('a server of a custom source is stopped once it is drained', async () => {
    const { join, run, own, matchmaker, seen } = open({ pool: { ...metal, keepIdleSeconds: 1 } })
    await join('ann')
    await join('ben')
    await run(6000)
    await matchmaker.stopMatch(seen.serverAssigned?.[0]?.matchId ?? '')
    await run(20_000)
    expect(own().running()).toEqual([])
    expect(own().calls.stop).toHaveLength(1)
  })

  test('an allocate whose answer was lost is found at its source, and no second server is created', async () => {
    const fault: Faults = (call, nth) => (call === 'allocate' && nth === 1 ? { effect: true } : undefined)
    const { join, run, status, own } = open({ fault })
    await join('ann')
    await join('ben')
    await run(10_000)
    expect(status('ann')).toBe('HOST_ASSIGNED')
    expect(own().running()).toHaveLength(1)
  })

  test('an allocate whose response was lost is stopped by its id if it may still start a server', async () => {
    const fault: Faults = (call, nth) => (call === 'allocate' && nth === 1 ? {} : undefined)
    const { join, run, status, own } = open({ fault })
    await join('ann')
    await join('ben')
    await run(20_000)
    expect(status('ann')).toBe('HOST_ASSIGNED')
    expect(own().calls.stop).toEqual([own().calls.allocate[0]])
    expect(own().running()).toHaveLength(1)
  })

  test('a problem of a custom source has the name of the source', async () => {
    const fault: Faults = (call) => (call === 'allocate' || call === 'poll' ? {} : undefined)
    const { join, run, seen } = open({ fault })
    await join('ann')
    await join('ben')
    await run(10_000)
    const problems = seen.problem ?? []
    expect(problems.map(({ during }) => during)).toEqual(expect.arrayContaining(['create', 'find', 'status']))
    expect(problems.map(({ source }) => source)).toEqual(problems.map(() => 'metal'))
  })

  test('a server of a custom source that has failed is replaced', async () => {
    const { join, run, status, own } = open()
    await join('ann')
    await join('ben')
    await run(1000)
    own().end(own().running()[0] ?? '', 'failed')
    await run(10_000)
    expect(status('ann')).toBe('HOST_ASSIGNED')
    expect(own().calls.allocate).toHaveLength(2)
  })

  test('a custom source allocates only one server until one of its polls has succeeded', async () => {
    const fault: Faults = (call) => (call === 'poll' ? { error: new ServerError('502') } : undefined)
    const { join, run, own } = open({ fault, pool: { ...metal, at: [{ cron: '* * * * *', minutes: 2, min: 5 }] } })
    await join('ann')
    await run(10_000)
    expect(own().calls.allocate).toHaveLength(1)
  })
})

test('after a pool’s source changed at a restart, its servers are still polled at the earlier source', async () => {
  const memory: StoreMemory = new Map()
  const before = open({ memory })
  await before.join('ann')
  await before.join('ben')
  await before.run(6000)
  const [id] = before.own().running()
  await before.matchmaker.close()
  const { source: _, ...moved } = metal
  const after = setUp({
    queues,
    pools: [moved],
    sources: { metal: before.own().allocator },
    store: createMemoryStore(memory),
    clock: before.clock,
  })
  const run = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += 250) {
      await after.matchmaker.tick()
      await before.clock.advance(250)
    }
  }
  await run(1000)
  expect(after.status('ann')).toBe('HOST_ASSIGNED')
  before.own().end(id ?? '', 'ended')
  await run(10_000)
  expect(after.seen.deploymentStopped).toMatchObject([{ requestId: id, reason: 'ended' }])
  expect(before.own().calls.stop).toEqual([id])
  expect(after.service.calls.stop).toEqual([])
})

test('after a restart, a server that its allocator has forgotten plays on once it reports, or is gone', async () => {
  const memory: StoreMemory = new Map()
  const before = open({ memory })
  await before.join('ann')
  await before.join('ben')
  await before.run(6000)
  const [id = ''] = before.own().running()
  await before.matchmaker.close()
  const { clock } = before
  const restart = () =>
    setUp({
      queues,
      pools: [metal],
      sources: { metal: { ...before.own().allocator, poll: async () => [] } },
      store: createMemoryStore(memory),
      clock,
    })
  const run = async ({ matchmaker }: ReturnType<typeof setUp>, ms: number) => {
    for (let passed = 0; passed < ms; passed += 250) {
      await matchmaker.tick()
      await clock.advance(250)
    }
  }
  const second = restart()
  await run(second, 9500)
  const token = before.own().servers.get(id)?.wanted.environment['MUSTER_SERVER_TOKEN'] ?? ''
  second.matchmaker.registerServer(token, RegistrationBody.parse({ instance: 'instance' }))
  await run(second, 9500)
  expect(second.status('ann')).toBe('HOST_ASSIGNED')
  expect(second.seen.deploymentStopped).toBeUndefined()
  await second.matchmaker.close()
  const third = restart()
  await run(third, 40_000)
  expect(third.seen.deploymentStopped).toMatchObject([{ requestId: id }])
})

test('a pool with an unknown source is refused', () => {
  const create = () => setUp({ queues, pools: [{ ...metal, source: 'wood' }], sources: {} })
  expect(create).toThrow('pools.0.source: there is no source "wood"')
})

describe('a matchmaker without the deployment service', () => {
  const { source: _, ...deployed } = metal
  const alone = (given: Partial<Parameters<typeof setUp>[0]> = {}) =>
    setUp({ queues, pools: [metal], deployments: undefined, ...given })

  test('without the deployment service, queues without a pool and pools without a source are refused', () => {
    const sources = { metal: createTestAllocator({ clock: createManualClock() }).allocator }
    const own = { name: 'own', matchSize: 2, deploy: metal.deploy }
    const ofQueue = 'option queues.1.deploy: no deployment service is configured that could deploy "game 1"'
    const ofPool = 'option pools.0.source: must be given, because no deployment service is configured'
    expect(() => alone({ sources, queues: [...queues, own] })).toThrow(ofQueue)
    expect(() => alone({ sources, pools: [deployed] })).toThrow(ofPool)
    const { matchmaker } = alone({ sources })
    expect(() => matchmaker.reconfigure([...queues, own])).toThrow(ofQueue)
    expect(() => matchmaker.reconfigure(queues, { pools: [deployed] })).toThrow(ofPool)
    expect(matchmaker.inspect().queues.map(({ name }) => name)).toEqual(['duel'])
  })

  test('without the deployment service its servers are kept, and stopped once it is configured again', async () => {
    const memory: StoreMemory = new Map()
    const service = { queues, pools: [{ ...deployed, warm: {} }] }
    const before = setUp({ ...service, store: createMemoryStore(memory) })
    before.matchmaker.start()
    for (const id of ['ann', 'ben'])
      await before.matchmaker.createTicket({ queue: 'duel', players: [{ id, ip: '192.0.2.7' }] })
    await before.run(5000)
    expect(before.service.unstopped()).toHaveLength(1)
    await before.matchmaker.close()

    const sources = { metal: createTestAllocator({ clock: before.clock }).allocator }
    const without = alone({ sources, store: createMemoryStore(memory), clock: before.clock })
    for (let passed = 0; passed < 200_000; passed += 500) {
      await without.matchmaker.tick()
      await before.clock.advance(500)
    }
    const said = (without.seen.problem ?? []).map(({ error }) => String(error))
    expect(said.some((one) => one.includes('service: is not configured, but has servers'))).toBe(true)
    expect(before.service.unstopped()).toHaveLength(1)
    await without.matchmaker.close()

    const back = setUp({
      queues,
      pools: [metal],
      sources,
      store: createMemoryStore(memory),
      clock: before.clock,
      deployments: before.service.deployments,
    })
    for (let passed = 0; passed < 200_000; passed += 500) {
      await back.matchmaker.tick()
      await before.clock.advance(500)
    }
    expect(before.service.unstopped()).toEqual([])
  })
})

test('after a suspension, a server that its allocator has forgotten may report again before it is gone', async () => {
  const { join, run, own, clock, status, seen } = open()
  await join('ann')
  await join('ben')
  await run(6000)
  const [id = ''] = own().running()
  await clock.advance(900_000)
  // The allocator loses its records, and the process does not report yet.
  own().servers.delete(id)
  await run(9000)
  expect([status('ann'), seen.deploymentStopped]).toEqual(['HOST_ASSIGNED', undefined])
  await run(30_000)
  expect(seen.deploymentStopped).toMatchObject([{ requestId: id }])
})

test('an answer of an allocator that is read after a suspension, before a tick, ends no server', async () => {
  const { join, run, own, clock, status, seen, answers, matchmaker } = open()
  await join('ann')
  await join('ben')
  await run(6000)
  const [id = ''] = own().running()
  const polls = () => own().calls.poll.length
  own().servers.delete(id)
  let answer = () => {}
  answers.late = new Promise<void>((resolve) => (answer = resolve))
  for (const before = polls(); polls() === before;) {
    await matchmaker.tick()
    await clock.advance(500)
  }
  await clock.advance(10_000)
  answer()
  await clock.advance(100)
  await run(9000)
  expect([status('ann'), seen.deploymentStopped]).toEqual(['HOST_ASSIGNED', undefined])
})
