import { RouteMissing, ServerError, UnexpectedResponse } from '@muster/core'
import { createManualClock } from '@muster/core/clock'
import { describe, expect, test } from 'vitest'
import { createTestService, lost, type ServiceOptions } from '../../../service.fixture.js'
import type { ServerChange } from '../../source.js'
import { Watcher } from './watcher.js'

interface Options extends Omit<ServiceOptions, 'clock'> {
  readonly readsPerSecond?: number
  readonly pushed?: boolean
}

function setUp({ readsPerSecond = 19, pushed = false, ...options }: Options = {}) {
  const clock = createManualClock()
  const service = createTestService({ clock, ...options })
  const seen: (ServerChange['kind'] | string)[] = []
  const sightedAt = new Map<string, number>()
  const strangers: string[] = []
  const problems: string[] = []
  const watcher = new Watcher({
    service: service.deployments,
    tag: 'mm-a',
    clock,
    listLagMs: 1000,
    readsPerSecond,
    pushed,
    report: (change) => {
      sightedAt.set(`${change.handle} ${change.kind}`, clock.now())
      seen.push(`${change.handle} ${change.kind}`)
      if (change.kind === 'ready') watcher.settle(change.handle)
      else watcher.forget(change.handle)
    },
    stranger: ({ request_id }) => strangers.push(request_id),
    problem: (during) => problems.push(during),
  })
  const deploy = async () => {
    const { request_id } = await service.add(['mm-a'])
    return request_id
  }
  const run = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += 250) {
      watcher.readDue(clock.now())
      await clock.advance(250)
    }
  }
  return { clock, service, watcher, seen, sightedAt, strangers, problems, deploy, run }
}

test('a watcher reports each deployment that becomes READY, fails or ends once', async () => {
  const fates = [{ readyMs: 3000 }, { errorMs: 3000 }, { endMs: 3000 }, { readyMs: 3000, endMs: 10_000 }, {}]
  const { watcher, seen, deploy, run } = setUp({ fate: (nth) => fates[nth - 1] ?? {} })
  for (const _ of fates) watcher.follow(await deploy(), 'k')
  await run(9000)
  expect(seen.toSorted()).toEqual(['r1 ready', 'r2 failed', 'r3 gone', 'r4 ready'])
  await run(60_000)
  expect(seen.slice(4)).toEqual(['r4 gone'])
})

test('one starting deployment is read a few times a second, and none is read if none starts', async () => {
  const { watcher, service, deploy, run, seen } = setUp({ fate: () => ({ readyMs: 10_000 }), pushed: true })
  watcher.follow(await deploy(), 'k')
  await run(11_000)
  expect(seen).toEqual(['r1 ready'])
  const asked = service.calls.get.length + service.calls.list.length
  expect(asked).toBeGreaterThan(20)
  expect(asked).toBeLessThan(80)
  await run(29_000)
  expect(service.calls.get.length + service.calls.list.length - asked).toBeLessThanOrEqual(2)
})

test('hundreds of starting deployments are seen READY soon, within the limits of the service', async () => {
  const { watcher, service, deploy, run, seen } = setUp({
    latencyMs: () => 40,
    fate: (nth) => ({ readyMs: 5000 + 10 * nth }),
  })
  for (let count = 0; count < 800; count++) {
    const created = deploy()
    void created.then((requestId) => watcher.follow(requestId, 'k'))
  }
  await run(15_000)
  expect(new Set(seen).size).toBe(800)
  expect(service.calls.get.length).toBeLessThanOrEqual(19 * 15 + 10)
  expect(service.calls.list.length).toBeLessThanOrEqual(10 * 15 + 20)
})

test('pages of deployments that are smaller than requested are read completely', async () => {
  const { watcher, service, deploy, run, seen } = setUp({ pageSize: 7, fate: () => ({ readyMs: 4000 }) })
  for (let count = 0; count < 30; count++) watcher.follow(await deploy(), 'k')
  await run(8000)
  expect(seen).toHaveLength(30)
  expect(new Set(service.calls.list.map(({ page }) => page))).toContain(5)
})

describe('a webhook of a deployment', () => {
  test('a webhook triggers a read of the deployment, and is not trusted as the state', async () => {
    const { clock, watcher, service, seen, deploy } = setUp({ fate: () => ({ readyMs: 3000 }) })
    watcher.follow(await deploy(), 'k')
    await clock.advance(1000)
    watcher.hint('r1')
    await clock.advance(0)
    expect(service.calls.get).toHaveLength(1)
    expect(seen).toEqual([])
    await clock.advance(2000)
    watcher.hint('r1')
    await clock.advance(0)
    expect(seen).toEqual(['r1 ready'])
  })

  test('a webhook may arrive before its deployment is followed', async () => {
    const { clock, watcher, seen, deploy } = setUp({ fate: () => ({ readyMs: 0 }) })
    watcher.hint('r1')
    watcher.follow(await deploy(), 'k')
    await clock.advance(0)
    expect(seen).toEqual(['r1 ready'])
  })

  test('of many simultaneous webhooks each triggers a read as soon as another read ends', async () => {
    const { clock, watcher, service, seen, deploy } = setUp({ fate: () => ({ readyMs: 0 }), readsPerSecond: 1000 })
    for (let count = 0; count < 50; count++) watcher.follow(await deploy(), 'k')
    for (let nth = 1; nth <= 50; nth++) watcher.hint(`r${nth}`)
    expect(service.calls.get).toHaveLength(10)
    await clock.advance(0)
    expect(seen).toHaveLength(50)
  })

  test('a webhook repeated a thousand times costs no more than the read budget', async () => {
    const { clock, watcher, service, deploy } = setUp({ fate: () => ({}) })
    for (let count = 0; count < 50; count++) watcher.follow(await deploy(), 'k')
    for (let flood = 0; flood < 20; flood++) {
      for (let nth = 1; nth <= 50; nth++) watcher.hint(`r${nth}`)
      for (let nth = 0; nth < 2000; nth++) watcher.hint(`forged-${nth}`)
      await clock.advance(50)
    }
    expect(service.calls.get.length).toBeLessThanOrEqual(19 + 5)
  })
})

test('deployments with the tag of Muster that nobody follows are reported at the start and every 30 s', async () => {
  const { service, strangers, run } = setUp()
  await service.add(['mm-a', 'match-x'])
  await service.add(['mm-b'])
  await run(250)
  expect(strangers).toEqual(['r1'])
  await run(30_000)
  expect(strangers).toEqual(['r1', 'r1'])
})

test('a watcher uses the list while status reads fail, and status reads while the list fails', async () => {
  for (const broken of ['get', 'list']) {
    const { watcher, seen, problems, deploy, run } = setUp({
      fate: () => ({ readyMs: 3000 }),
      fault: (method) => (method === broken ? { error: broken === 'get' ? lost : new ServerError('down') } : undefined),
    })
    watcher.follow(await deploy(), 'k')
    await run(6000)
    expect(seen).toEqual(['r1 ready'])
    expect(new Set(problems)).toEqual(new Set([broken === 'get' ? 'status' : 'list']))
  }
})

test('a new deployment that the service does not know yet is not considered gone', async () => {
  const { clock, watcher, seen, run } = setUp()
  watcher.follow('nowhere', 'k')
  await run(750)
  expect(seen).toEqual([])
  await clock.advance(500)
  await run(2000)
  expect(seen).toEqual(['nowhere gone'])
})

test.each([
  ['a 404 without a message', new RouteMissing('status 404')],
  ['null', new UnexpectedResponse("the answer's body is not as described", { status: 200 })],
])('a deployment whose status is %s is gone once the list does not show it', async (_, error) => {
  let isForgotten = false
  const { watcher, service, seen, deploy, run } = setUp({
    fate: () => ({ readyMs: 0 }),
    fault: (method) => (isForgotten && method === 'get' ? { error } : undefined),
  })
  for (let nth = 0; nth < 2; nth += 1) watcher.follow(await deploy(), 'k')
  await run(5000)
  isForgotten = true
  watcher.hint('r1')
  await run(120_000)
  expect(seen.toSorted()).toEqual(['r1 ready', 'r2 ready'])
  service.records.shift()
  await run(60_000)
  expect(seen.slice(2)).toEqual(['r1 gone'])
  service.records.pop()
  await run(60_000)
  expect(seen).toHaveLength(3)
})

test('after close, the deployment watcher reads and reports nothing', async () => {
  const { clock, watcher, seen, deploy } = setUp({ latencyMs: () => 100 })
  const creating = deploy()
  await clock.advance(300)
  watcher.follow(await creating, 'k')
  watcher.readDue(clock.now())
  await clock.advance(5000)
  watcher.readDue(clock.now())
  watcher.close()
  await clock.advance(10_000)
  expect(clock.sleepers).toBe(0)
  expect(seen).toEqual([])
})

describe('the end of a running server without webhooks', () => {
  /** Ends some servers from one minute on. Returns after how many milliseconds each end was noticed, by page size. */
  const endings = async (count: number, pageSize: number, alsoStarting = 0) => {
    const start = 60_000
    const endsAt = (nth: number) => (nth > count || nth % Math.ceil(count / 20) > 0 ? undefined : start + nth * 37)
    const { clock, watcher, service, deploy, run, sightedAt } = setUp({
      pageSize,
      latencyMs: () => 30,
      fate: (nth) => {
        if (nth > count) return { readyMs: 4000 }
        const at = endsAt(nth)
        if (at === undefined) return { readyMs: 0 }
        return nth % 2 === 0 ? { readyMs: 0, endMs: at } : { readyMs: 0, errorMs: at }
      },
    })
    const begunAt = clock.now()
    const created = Promise.all(Array.from({ length: count }, () => deploy()))
    await clock.advance(60)
    for (const id of await created) watcher.follow(id, 'k')
    for (const { requestId } of service.records) watcher.settle(requestId)
    await run(start - 1000)
    const lists = service.calls.list.length
    const reads = service.calls.get.length
    for (let more = 0; more < alsoStarting; more += 1) {
      void deploy().then((id) => watcher.follow(id, 'k'))
      await run(250)
    }
    await run(60_000)
    const took = service.records.flatMap(({ requestId }, index) => {
      const at = endsAt(index + 1)
      const seenAt = sightedAt.get(`${requestId} gone`) ?? sightedAt.get(`${requestId} failed`) ?? Infinity
      return at === undefined ? [] : seenAt - begunAt - at
    })
    const seconds = 60 + alsoStarting / 4
    const a = service.calls.list.length - lists
    return { slowest: Math.max(...took), listsPerSecond: a / seconds, reads: service.calls.get.length - reads }
  }

  test.each([
    [1, 100],
    [100, 100],
    [1000, 100],
  ])('the end of a server without webhooks is seen within 5 s: %i servers, %i to a page', async (count, pageSize) => {
    const { slowest, listsPerSecond, reads } = await endings(count, pageSize)
    expect(slowest).toBeLessThanOrEqual(5000)
    expect(listsPerSecond).toBeLessThanOrEqual(5.1)
    expect(reads).toBeLessThanOrEqual(60)
  })

  test('the end of a server without webhooks is seen within 5 s while other servers start', async () => {
    const { slowest, listsPerSecond } = await endings(400, 100, 100)
    expect(slowest).toBeLessThanOrEqual(5000)
    expect(listsPerSecond).toBeLessThanOrEqual(10)
  })

  test('the end of a server is seen within 14 s if the list has 30 pages, of which 5 are read a second', async () => {
    const { slowest, listsPerSecond } = await endings(300, 10)
    expect(slowest).toBeLessThanOrEqual(2 * 6000 + 1500)
    expect(listsPerSecond).toBeLessThanOrEqual(5.1)
  })

  test('servers that the deployment list does not show cost at most two status reads a minute each', async () => {
    const { clock, watcher, service, deploy, run, seen } = setUp({ listLagMs: Infinity, fate: () => ({ readyMs: 0 }) })
    for (let count = 0; count < 100; count += 1) watcher.follow(await deploy(), 'k')
    for (const { requestId } of service.records) watcher.settle(requestId)
    await run(10_000)
    const before = service.calls.get.length
    await run(60_000)
    expect(service.calls.get.length - before).toBeLessThanOrEqual(2 * 100 + 20)
    expect(seen).toEqual([])
    expect(clock.now()).toBeGreaterThan(0)
  })
})
