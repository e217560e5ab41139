import { expect, test } from 'vitest'
import { boundOf, causeOf } from './bound.js'
import { gather } from './crowd.js'
import { percentiles } from './percentiles.js'
import { isGood, type DemoResult } from './result.js'
import { summary } from './summary.js'

test('each percentile in the demo is one of the measured values, or 0 without values', () => {
  expect(percentiles([])).toEqual({ p50: 0, p95: 0, p99: 0 })
  expect(percentiles([7])).toEqual({ p50: 7, p95: 7, p99: 7 })
  expect(percentiles(Array.from({ length: 100 }, (_, index) => 100 - index))).toEqual({ p50: 50, p95: 95, p99: 99 })
})

const matches = { players: 700, queueSize: undefined, processes: 0 }
const options = { ...matches, relay: false, warm: false, lobbies: 1, faults: false, seed: 5, json: true }

test('a demo crowd has the stated size and duration, and is equal for equal seeds', () => {
  const { arrivals, places } = gather(options, 9000)
  const players = arrivals.flatMap(({ ticket }) => ticket.players)
  expect(new Set(players.map(({ id }) => id)).size).toBe(700)
  expect(arrivals.map(({ afterMs }) => afterMs)).toEqual(
    arrivals.map(({ afterMs }) => afterMs).toSorted((a, b) => a - b),
  )
  expect(arrivals.at(-1)?.afterMs).toBeLessThanOrEqual(9000)
  expect(players.filter(({ ip = '' }) => !places.has(ip))).toEqual([])
  expect(gather(options, 9000).arrivals).toEqual(arrivals)
  expect(gather({ ...options, seed: 6 }, 9000).arrivals).not.toEqual(arrivals)
})

test('each demo queue gets its share of the players, in parties no larger than the queue allows', () => {
  const { arrivals } = gather(options, 9000)
  const sizesOf = (queue: string) =>
    arrivals.flatMap(({ ticket }) => (ticket.queue === queue ? [ticket.players.length] : []))
  const players = (queue: string) => sizesOf(queue).reduce((sum, size) => sum + size, 0)
  expect([players('ranked'), players('duel'), players('social')]).toEqual([350, 56, 294])
  expect([...new Set(sizesOf('ranked'))].toSorted()).toEqual([1, 2, 3, 4, 5])
  expect(new Set(sizesOf('duel'))).toEqual(new Set([1]))
  const plain = gather({ ...options, queueSize: 2 }, 9000).arrivals
  expect(new Set(plain.map(({ ticket }) => ticket.queue))).toEqual(new Set(['plain']))
  expect(Math.max(...plain.map(({ ticket }) => ticket.players.length))).toBe(2)
})

const result: DemoResult = {
  players: 20,
  assigned: 10,
  expired: 9,
  unmatched: { 'lacked a tank or a healer': 6, 'had too few others left': 3 },
  cancelled: { attempts: 1 },
  interrupted: undefined,
  lost: 0,
  matches: 1,
  queues: [
    {
      queue: 'ranked',
      title: 'ranked 5v5',
      players: 20,
      assigned: 10,
      matches: 1,
      parties: 3,
      waitMs: { p50: 1200, p95: 2000 },
      skillSpread: 90,
      teamGap: 12,
      placed: undefined,
      joinedLater: 4,
      left: 2,
    },
  ],
  broken: [],
  deployments: 1,
  rejected429: 0,
  serversLeft: 0,
  waitMs: { p50: 1200, p95: 2000, p99: 3000 },
  distanceKm: { p50: 10, p95: 20 },
  seconds: 3,
  speed: 5,
  seed: 1,
  requests: { 'deployments.create': { 202: 1 } },
  limits: [{ name: 'createDeployment', limit: 40, peak: 39 }],
  pressure: { seconds: 2, creates: 1, busy: 0.2, causes: {} },
  faults: [],
  cities: [{ city: 'Lima', servers: 1 }],
}

test('the demo passes only without lost players, broken rules, 429 responses and orphaned servers', () => {
  expect(isGood(result)).toBe(true)
  for (const key of ['lost', 'rejected429', 'serversLeft'] as const) expect(isGood({ ...result, [key]: 1 })).toBe(false)
  expect(isGood({ ...result, broken: ['a rule'] })).toBe(false)
})

test('the summary of the demo shows all figures', () => {
  const text = summary(result)
  const players = ['10 playing', '9 without a match in time', '1 cancelled (attempts)', 'p95 2.0 s']
  const service = ['Lima', '1 × 202', '39 of 40', 'no server is left running']
  const traffic = '4 joined a match that was running, 2 left one'
  const queue = ['ranked 5v5        10 of 20         1', '1.2 s, 2.0 s', '90         12', traffic]
  for (const part of [...players, ...service, ...queue]) expect(text).toContain(part)
  expect(summary({ ...result, serversLeft: 1 })).toContain('not as it should be')
  expect(summary({ ...result, broken: ['match m: 3 duellists'] })).toContain('match m: 3 duellists')
})

test('the demo names what limited the last seconds: creates, the process, maxServers, maxStarting or nothing', () => {
  const measured = { seconds: 2, creates: 70, busy: 0.97, blockedBy: 'maxStarting' } as const
  expect(causeOf(measured)).toBe('creates')
  expect(causeOf({ ...measured, creates: 20 })).toBe('process')
  expect(causeOf({ ...measured, creates: 20, busy: 0.5 })).toBe('maxStarting')
  expect(causeOf({ ...measured, creates: 20, blockedBy: 'maxServers' })).toBe('maxServers')
  expect(causeOf({ ...measured, creates: 20, busy: 0.5, blockedBy: undefined })).toBeUndefined()
})

test('the demo explains many players without a match by the limit that was reached for the longest time', () => {
  const causes = { process: 4, creates: 15, maxServers: 1 }
  const many = {
    ...result,
    players: 100_000,
    expired: 95_000,
    pressure: { seconds: 20, creates: 760, busy: 0.97, causes },
  }
  const said = boundOf(many) ?? ''
  expect(said).toMatch(
    /^the service's limit of 40 creates per second \(15 of 20 s\); this process.*97 %.*\(4 of 20 s\)/,
  )
  expect(said).toMatch(/Sent: 38.0 creates a second$/)
  expect(summary(many, { columns: 250 })).toContain(said)
  expect(boundOf({ ...many, expired: 5000 })).toBeUndefined()
  expect(boundOf({ ...many, pressure: { ...many.pressure, causes: {} } })).toBeUndefined()
  expect(summary(result)).not.toContain('bounded by')
})

test('the summary of a stopped demo says how many servers were stopped or left running', () => {
  const interrupted = { notCome: 7, waiting: 3, servers: 12 }
  const text = summary({ ...result, interrupted })
  expect(text).toContain('3 still waiting, 7 not there yet')
  expect(text).toContain(
    '12 servers ran or started when you stopped the demo. All have been stopped, and none is left.',
  )
  expect(summary({ ...result, interrupted: { ...interrupted, servers: 1 }, serversLeft: 1 })).toContain(
    '1 server ran or started when you stopped the demo. 1 could not be stopped in time.',
  )
})

test('the summary of the demo lists the effects of declared faults', () => {
  const faults = [{ operation: 'deployments.create', what: 'the answer was lost', struck: 3, of: 260 }]
  expect(summary({ ...result, faults })).toContain('deployments.create       3 of 260: the answer was lost')
})

test('the summary of the demo fits a narrow terminal without losing text', () => {
  const faults = [
    { operation: 'deployments.create', what: 'the answer was lost after it had taken effect', struck: 3, of: 260 },
  ]
  const all = { ...result, faults, broken: ['match m: players who avoid each other, and others too'] }
  const narrow = summary(all, { columns: 60 })
  expect(Math.max(...narrow.split('\n').map((line) => line.length))).toBeLessThanOrEqual(60)
  const words = (text: string) => text.split(/\s+/).filter((word) => word !== '')
  expect(new Set(words(narrow))).toEqual(new Set(words(summary(all))))
})
