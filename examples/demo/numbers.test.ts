import { expect, test } from 'vitest'
import { gather } from './crowd.js'
import { createLimitMeter } from './limit-use.js'
import { percentiles } from './percentiles.js'
import { isGood, type DemoResult } from './result.js'
import { summary } from './summary.js'

test('percentiles are values that occur', () => {
  expect(percentiles([])).toEqual({ p50: 0, p95: 0, p99: 0 })
  expect(percentiles([7])).toEqual({ p50: 7, p95: 7, p99: 7 })
  expect(percentiles(Array.from({ length: 100 }, (_, index) => 100 - index))).toEqual({ p50: 50, p95: 95, p99: 99 })
})

test('the use of a limit is the most that left in any one second', () => {
  const meter = createLimitMeter()
  for (const now of [0, 400, 999, 1000, 1399]) meter.left('deployments.create', now)
  meter.left('applications.list', 0)
  // 400, 999, 1000 and 1399; that of 0 left a second before 1000.
  expect(meter.use()).toEqual([{ name: 'create deployment', limit: 40, peak: 4 }])
})

test('a crowd is as large as asked, comes in time, in parties that fit, and is the same for the same seed', () => {
  const options = { players: 700, queueSize: 2, faults: false, seed: 5, json: true }
  const { arrivals, places } = gather(options, 9000)
  const players = arrivals.flatMap(({ ticket }) => ticket.players)
  expect(new Set(players.map(({ id }) => id)).size).toBe(700)
  expect(Math.max(...arrivals.map(({ ticket }) => ticket.players.length))).toBe(2)
  expect(arrivals.map(({ afterMs }) => afterMs)).toEqual(arrivals.map(({ afterMs }) => afterMs).toSorted((a, b) => a - b))
  expect(arrivals.at(-1)?.afterMs).toBeLessThanOrEqual(9000)
  expect(players.filter(({ ip = '' }) => !places.has(ip))).toEqual([])
  expect(gather(options, 9000).arrivals).toEqual(arrivals)
  expect(gather({ ...options, seed: 6 }, 9000).arrivals).not.toEqual(arrivals)
})

const result: DemoResult = {
  players: 20,
  assigned: 10,
  expired: 9,
  cancelled: { attempts: 1 },
  lost: 0,
  matches: 1,
  deployments: 1,
  rejected429: 0,
  serversLeft: 0,
  waitMs: { p50: 1200, p95: 2000, p99: 3000 },
  distanceKm: { p50: 10, p95: 20 },
  seconds: 3,
  speed: 5,
  seed: 1,
  requests: { 'deployments.create': { 202: 1 } },
  limits: [],
  cities: [{ city: 'Lima', servers: 1 }],
}

test('it is good only if nobody is lost, nothing refused and nothing left', () => {
  expect(isGood(result)).toBe(true)
  for (const key of ['lost', 'rejected429', 'serversLeft'] as const) expect(isGood({ ...result, [key]: 1 })).toBe(false)
})

test('the summary tells all', () => {
  const text = summary(result)
  for (const part of ['10 playing', '9 without a match in time', '1 cancelled (attempts)', 'p95 2.0 s', 'Lima', '1 × 202', 'Everybody is accounted for']) {
    expect(text).toContain(part)
  }
  expect(summary({ ...result, serversLeft: 1 })).toContain('not as it should be')
})
