import { ServerError } from '@muster/core'
import { createManualClock } from '@muster/core/clock'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createTestService, type ServiceOptions } from '../../service.fixture.js'
import { createLostCreateSearch } from './lost-creates.js'
import { serverTag, serverIdsOf } from '../../records/tags.js'

const LAG_MS = 3200
/** @param filters false for a service that ignores the filters of its list */
function setUp(options: Omit<ServiceOptions, 'clock'> = {}, filters = true) {
  const clock = createManualClock()
  const service = createTestService({ clock, ...options })
  const { list } = service.deployments
  if (!filters) service.deployments.list = (input, call) => list({ ...input, query: undefined }, call)
  const told: string[] = []
  const began = clock.now()
  const tell = (what: string, name: string) => void told.push(`${what} ${name} ${clock.now() - began}`)
  const finder = createLostCreateSearch({
    service: service.deployments,
    clock,
    ownTag: 'mm-a',
    listLagMs: LAG_MS,
    found: ({ request_id, tags }) => {
      tell('found', request_id)
      for (const id of serverIdsOf(tags)) finder.end(id)
    },
    late: (id) => {
      if (!told.some((line) => line.startsWith(`late ${id}`))) tell('late', id)
    },
    absent: (id) => tell('absent', id),
    problem: () => tell('problem', ''),
  })
  /** Records a lost create. @param ofThisProcess false if an earlier process sent the create */
  const lose = (id: string, ofThisProcess = true, lostAt = clock.now()) => {
    finder.begin({ id, lostAt, isAwaited: ofThisProcess })
    return id
  }
  const run = async (ms: number, each = () => {}) => {
    for (let passed = 0; passed < ms; passed += 100) {
      each()
      finder.advance(clock.now())
      await clock.advance(100)
    }
  }
  return { clock, service, finder, told, lose, run }
}

describe('a create lost while players wait', () => {
  test('a lost create counts as absent after eight lookups, the last at eight times the lag of the list', async () => {
    const { service, told, lose, run } = setUp()
    lose('m')
    await run(LAG_MS)
    expect(service.calls.list).toHaveLength(4)
    await run(30_000)
    expect(service.calls.list).toHaveLength(8)
    expect(told).toEqual([`late m ${LAG_MS + 100}`, `absent m ${8 * LAG_MS + 100}`])
  })

  test('a lost create does not count as absent by lookups that webhooks triggered', async () => {
    const { clock, service, finder, told, lose, run } = setUp({ listLagMs: LAG_MS - 100 })
    const adding = service.add(['mm-a', serverTag('m')])
    await clock.advance(0)
    await adding
    const id = lose('m')
    await run(2700, () => finder.hint(id))
    expect(service.calls.list.length).toBeGreaterThan(20)
    expect(told).toEqual([])
    await run(1000, () => finder.hint(id))
    expect(told).toEqual([`found r1 ${LAG_MS - 100}`])
  })

  test('a lost create is found for any list lag within the option, whenever webhooks arrive', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: 8 * LAG_MS - 1 }),
        fc.array(fc.nat(300), { maxLength: 50 }),
        fc.integer({ min: 1, max: 12 }),
        async (listLagMs, hints, others) => {
          const { clock, service, finder, told, lose, run } = setUp({ listLagMs, latencyMs: () => 40 })
          const adding = service.add(['mm-a', serverTag('m')])
          await clock.advance(100)
          await adding
          const id = lose('m')
          for (let other = 1; other < others; other += 1) lose(`other${other}`)
          let step = 0
          await run(8 * LAG_MS + 1000, () => {
            step += 1
            if (hints.includes(step)) finder.hint(id)
          })
          expect(told.filter((line) => line.startsWith('absent m '))).toEqual([])
          expect(told.some((line) => line.startsWith('found r1 '))).toBe(true)
        },
      ),
      { numRuns: 30 },
    )
  })
})

test('a lost create is found though the service ignores the filter and has many newer deployments', async () => {
  const { service, told, lose, run } = setUp({ pageSize: 10 }, false)
  await service.add(['mm-a', serverTag('m', 1)])
  for (let nth = 0; nth < 25; nth += 1) await service.add(['mm-a', serverTag(`other${nth}`, 1)])
  const [{ requestId } = { requestId: '' }] = service.records
  lose(serverIdsOf([serverTag('m', 1)])[0] ?? '')
  await run(LAG_MS)
  expect(told.filter((line) => line.startsWith(`found ${requestId}`))).not.toEqual([])
  expect(told.filter((line) => line.startsWith('absent'))).toEqual([])
})

describe('several lost creates', () => {
  test('several lost creates share one sweep of the list per lookup', async () => {
    const { service, told, lose, run } = setUp()
    for (let nth = 0; nth < 200; nth += 1) lose(`m${nth}`)
    await run(8 * LAG_MS + 200)
    expect(service.calls.list.length).toBeLessThanOrEqual(8)
    expect(told.filter((line) => line.startsWith('absent'))).toHaveLength(200)
  })

  test('lost creates do not count as absent by a failed sweep, which is repeated', async () => {
    const { told, lose, run } = setUp({
      fault: (method, nth) => (method === 'list' && nth <= 3 ? { error: new ServerError('down') } : undefined),
    })
    for (let nth = 0; nth < 10; nth += 1) lose(`m${nth}`, false)
    await run(LAG_MS + 3000)
    expect(told).toHaveLength(3)
    await run(1000)
    expect(told.filter((line) => line.startsWith('absent'))).toHaveLength(10)
  })
})

describe('a create lost by an earlier process', () => {
  test('a create lost by an earlier process counts as absent after one lookup by an up-to-date list', async () => {
    const { service, told, lose, run } = setUp()
    lose('m', false)
    await run(10_000)
    expect(service.calls.list).toHaveLength(1)
    expect(told).toContain(`absent m ${LAG_MS + 100}`)
  })

  test('a create lost by an earlier process is searched for from the time when the loss was noticed', async () => {
    const { clock, told, lose, run } = setUp()
    lose('m', false, clock.now() - LAG_MS)
    await run(200)
    expect(told).toContain('absent m 100')
  })
})

test('a lost create is not searched for after closing', async () => {
  const { clock, service, finder, told, lose, run } = setUp({ latencyMs: () => 100, pageSize: 1 })
  for (let nth = 0; nth < 10; nth += 1) lose(`m${nth}`, false)
  for (let nth = 0; nth < 5; nth += 1) {
    const adding = service.add(['mm-a'])
    await clock.advance(200)
    await adding
  }
  await run(LAG_MS)
  const { length } = service.calls.list
  finder.close()
  await clock.advance(10_000)
  expect(service.calls.list).toHaveLength(length)
  expect(told.filter((line) => line.startsWith('problem'))).toEqual([])
})
