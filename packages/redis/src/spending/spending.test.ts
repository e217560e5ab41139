import { InvalidInput } from '@muster/core'
import { createManualClock } from '@muster/core/clock'
import { createMatchmaker, type SpendBudget } from '@muster/matchmaker'
import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import { describeRedis, openRedis, type RedisUnderTest } from '../redis.fixture.js'
import { createRedisSpending, type RedisSpendingOptions, type SpendingProblem } from './spending.js'

test.each([
  [{ maxServers: 0 }, 'maxServers'],
  [{ maxCreatesPerMinute: 1.5 }, 'maxCreatesPerMinute'],
  [{ name: 'a b' }, 'name'],
])('the shared budget refuses the options %o by name', (wrong, field) => {
  const create = () => createRedisSpending({ redis: { run: async () => {} } as never, ...wrong })
  expect(create).toThrow(InvalidInput)
  expect(create).toThrow(field)
})

describeRedis('a shared budget in Redis', () => {
  let under: RedisUnderTest
  beforeAll(async () => {
    under = await openRedis({ appendOnly: 'always' })
  })
  afterAll(() => under.close())
  beforeEach(async () => void (await under.server.ask('FLUSHALL')))

  const LEASES = 'mu:{spending.account}:leases'
  const CREATES = 'mu:{spending.account}:creates'
  /** Sets the state to five seconds after the start of Redis. */
  const afterQuiet = () => under.server.ask(`HSET ${LEASES} quiet 0`)

  const open = async (options: Partial<RedisSpendingOptions> = {}) => {
    const clock = createManualClock()
    const spending = createRedisSpending({ redis: under.redis, clock, ...options })
    const first = spending.budget('first')
    first.servers(0)
    await answered()
    await afterQuiet()
    return { clock, spending, first }
  }
  /** Resolves once all earlier requests are answered, because Redis answers in order. */
  const answered = async () => {
    await under.redis.command('x', ['PING'])
    await new Promise((resolve) => setImmediate(resolve))
  }
  /** Calls the budget until it has requested its share with this count. */
  const settle = async (clock: { advance(ms: number): Promise<void> }, budget: SpendBudget, count: number) => {
    for (let n = 0; n < 3; n++) {
      await clock.advance(100)
      budget.servers(count)
      await answered()
    }
    return budget.servers(count)
  }

  test('a shared budget grants nothing until all live partitions had the time to request', async () => {
    const { clock, first } = await open({ maxServers: 10 })
    await under.server.ask('FLUSHALL')
    expect(await settle(clock, first, 4)).toBe(0)
    await afterQuiet()
    expect(await settle(clock, first, 4)).toBe(1)
  })

  test('a shared budget grants servers and creates again after Redis’ clock was set back by an hour', async () => {
    const { clock, first } = await open({ maxServers: 10, maxCreatesPerMinute: 2 })
    await settle(clock, first, 0)
    const hour = 3_600_000_000
    await under.server.ask(`HSET ${LEASES} quiet ${Date.now() * 1000 + hour}`)
    await under.server.ask(`ZADD ${CREATES} ${Date.now() * 1000 + hour} a ${Date.now() * 1000 + hour} b`)
    expect(await settle(clock, first, 0)).toBe(0)
    expect(first.creates()).toBe(0)
    // Sets the stored times as if five seconds and a minute had passed.
    const passed = async (ms: number) => {
      const quiet = Number(await under.redis.command(LEASES, ['HGET', LEASES, 'quiet'])) - ms * 1000
      await under.redis.command(LEASES, ['HSET', LEASES, 'quiet', quiet])
      for (const id of ['a', 'b']) await under.redis.command(CREATES, ['ZINCRBY', CREATES, -ms * 1000, id])
    }
    await passed(5000)
    expect(await settle(clock, first, 0)).toBe(1)
    expect(first.creates()).toBe(0)
    await passed(55_000)
    await settle(clock, first, 0)
    expect(first.creates()).toBe(1)
  })

  test('a shared budget grants a partition a server that no other partition holds or that was returned', async () => {
    const { clock, spending, first } = await open({ maxServers: 3 })
    const second = spending.budget('second')
    expect(await settle(clock, first, 2)).toBe(1)
    expect(await settle(clock, second, 0)).toBe(0)
    expect(await settle(clock, first, 0)).toBe(1)
    expect(await settle(clock, second, 0)).toBe(1)
  })

  test('a shared budget reserves more servers in advance for a partition that needs more', async () => {
    const { clock, first } = await open({ maxServers: 1000 })
    expect(await settle(clock, first, 0)).toBe(8)
    for (let n = 0; n < 8; n++) first.planned()
    await clock.advance(100)
    first.servers(8)
    await answered()
    expect(first.servers(8)).toBe(16)
  })

  test('a shared budget counts the creates of a minute over all partitions', async () => {
    const { clock, spending, first } = await open({ maxCreatesPerMinute: 5 })
    const second = spending.budget('second')
    let made = 0
    for (let round = 0; round < 10; round++) {
      for (const budget of [first, second]) {
        await settle(clock, budget, 0)
        for (; budget.creates() > 0; made++) budget.planned()
      }
    }
    expect(made).toBe(5)
  })

  test('a shared budget counts creates of a leader that did not report them before its successor', async () => {
    const { clock, spending, first } = await open({ maxCreatesPerMinute: 4 })
    await settle(clock, first, 0)
    const given = first.creates()
    expect(given).toBe(1)
    const successor = spending.budget('first')
    await settle(clock, successor, 0)
    expect(await under.redis.command(CREATES, ['ZCARD', CREATES])).toBe(given)
  })

  test('a shared budget grants nothing to a leader that was replaced', async () => {
    const { clock, spending, first } = await open({ maxServers: 10 })
    expect(await settle(clock, first, 5)).toBe(1)
    const successor = spending.budget('first')
    await settle(clock, successor, 5)
    await clock.advance(100)
    first.servers(0)
    await answered()
    expect(first.servers(0)).toBe(0)
  })

  test('a shared budget reports once that Redis refused its request, and continues when Redis accepts it', async () => {
    const { clock, spending, first } = await open({ maxServers: 10 })
    const problems: SpendingProblem[] = []
    spending.events.on('problem', (problem) => problems.push(problem))
    await under.server.ask(`DEL ${LEASES}`)
    await under.server.ask(`SET ${LEASES} x`)
    await clock.advance(100)
    first.servers(0)
    await answered()
    expect(problems).toMatchObject([{ during: 'budget', partition: 'first', error: { name: 'RedisWrongType' } }])
    await under.server.ask(`DEL ${LEASES}`)
    await settle(clock, first, 0)
    await afterQuiet()
    expect(await settle(clock, first, 0)).toBe(1)
    expect(problems).toHaveLength(1)
  })

  test('a shared budget removes a partition after a day of silence, and stores only keys that expire', async () => {
    const { clock, first } = await open({ maxServers: 2, maxCreatesPerMinute: 5 })
    const dayAgo = Date.now() * 1000 - 86_401e6
    await under.redis.command(LEASES, ['HSET', LEASES, 'p:gone', `${dayAgo} 2 5`])
    expect(await settle(clock, first, 0)).toBe(1)
    expect(await under.redis.command(LEASES, ['HEXISTS', LEASES, 'p:gone'])).toBe(0)
    first.planned()
    await settle(clock, first, 1)
    for (const key of [LEASES, CREATES]) {
      expect(await under.redis.command(key, ['PTTL', key])).toBeGreaterThan(0)
    }
  })

  test('property: a shared budget is never exceeded when servers start and end and leaders change', async () => {
    const does = fc.oneof(
      { weight: 12, arbitrary: fc.constant('start' as const) },
      { weight: 4, arbitrary: fc.constant('end' as const) },
      { weight: 1, arbitrary: fc.constant('replace' as const) },
    )
    const times = fc.integer({ min: 1, max: 4 })
    const step = fc.record({ partition: fc.nat(2), does, times, isLate: fc.boolean() })
    const bounds = fc.record({
      maxServers: fc.integer({ min: 1, max: 12 }),
      maxCreatesPerMinute: fc.oneof(fc.constant(Infinity), fc.integer({ min: 1, max: 60 })),
    })
    const seen = { full: 0, spent: 0 }
    const manySteps = fc.array(step, { minLength: 50, maxLength: 200 })
    const property = fc.asyncProperty(bounds, manySteps, async (most, steps) => {
      await under.server.ask('FLUSHALL')
      const { clock, spending } = await open(most)
      const partitions = ['a', 'b', 'c'].map((name) => ({ name, budget: spending.budget(name), servers: 0 }))
      let creates = 0
      for (const { partition, does: what, times, isLate } of steps) {
        const one = partitions[partition] as (typeof partitions)[number]
        if (what === 'replace') one.budget = spending.budget(one.name)
        if (what === 'end') one.servers = Math.max(0, one.servers - times)
        await clock.advance(60)
        one.budget.servers(one.servers)
        if (!isLate) await answered()
        for (let n = 0; what === 'start' && n < times; n++) {
          if (Math.min(one.budget.servers(one.servers), one.budget.creates()) === 0) break
          one.servers += 1
          creates += 1
          one.budget.planned()
        }
        const servers = partitions.reduce((sum, { servers: each }) => sum + each, 0)
        expect(servers).toBeLessThanOrEqual(most.maxServers)
        expect(creates).toBeLessThanOrEqual(most.maxCreatesPerMinute)
        if (servers >= most.maxServers - 2) seen.full += 1
        if (creates >= most.maxCreatesPerMinute - 4) seen.spent += 1
      }
    })
    await fc.assert(property, { numRuns: 20 })
    // If hardly any of the budget was used, the test would prove nothing.
    expect(Math.min(seen.full, seen.spent)).toBeGreaterThan(100)
  })

  test('a shared budget can be used as the budget of a matchmaker', async () => {
    const { spending } = await open()
    const refuses = async () => Promise.reject(new Error('nobody'))
    const matchmaker = createMatchmaker({
      deployments: { create: refuses, get: refuses, stop: refuses, list: refuses },
      queues: [{ name: 'q', matchSize: 2, deploy: { application: 'game', version: '1' } }],
      budget: spending.budget('eu'),
    })
    onTestFinished(() => void matchmaker.close({ timeoutMs: 0 }))
    expect(matchmaker.inspect().blockedBy).toBeUndefined()
  })
})
