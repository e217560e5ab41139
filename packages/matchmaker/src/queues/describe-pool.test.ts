import fc from 'fast-check'
import { expect, test } from 'vitest'
import { poolSchema } from '@muster/hosting/internal'
import { describePool, poolCost, poolCostSentence } from './describe-pool.js'

const deploy = { application: 'game', version: '1', hiddenEnvironment: { KEY: 'hunter2' } }
const place = (name: string) => ({ name, latitude: 50, longitude: 8 })

test('the description of a pool without warm servers is short', () => {
  expect(describePool(poolSchema.parse({ name: 'arena', deploy }))).toEqual([
    'Its servers run game, version 1.',
    'No server is kept warm.',
    'A server serves one match.',
  ])
})

test('the description of a pool names the source of its servers', () => {
  const says =
    'They come from the source metal, which chooses the place; where it has no capacity, it is asked nowhere else.'
  expect(describePool(poolSchema.parse({ name: 'arena', deploy, source: 'metal' }))[1]).toBe(says)
  const enrol = [{ key: 'a-key-of-at-least-32-characters-x', place: 'Oslo', max: 3, matches: 4 }]
  const places = [{ name: 'Oslo', latitude: 59.9, longitude: 10.7 }]
  expect(describePool(poolSchema.parse({ name: 'arena', places, enrol })).slice(0, 2)).toEqual([
    'Nothing is deployed: its servers come by themselves, and while all are taken, players wait.',
    'Three servers of your own at Oslo at most may add themselves with a key, each for four matches at a time at most.',
  ])
})

test('the description of a pool with only enrolled servers says that it creates none and costs nothing', () => {
  const enrol = [{ key: 'a-key-of-at-least-32-characters-x', place: 'Oslo', max: 3 }]
  const places = [{ name: 'Oslo', latitude: 59.9, longitude: 10.7 }]
  const at = [{ cron: '0 9 * * *', minutes: 30, min: 1 }]
  // The definition of a pool while it moves to own machines.
  const pool = poolSchema.parse({ name: 'arena', source: 'enrolled', deploy, places, enrol, warm: {}, at })
  expect(describePool(pool).join(' ')).not.toMatch(/warm at|kept warm|idle|From 0 9/)
  const load = { matchesPerHour: 600, bootSeconds: 20, matchSeconds: 900 }
  expect(poolCost(pool, load)).toMatchObject({ warm: 0, hit: 0, idle: 0, playing: 150, createsPerMatch: 0 })
  expect(poolCostSentence(poolCost(pool, load))).toMatch(/no server is kept warm; 0 create requests a match.$/)
})

test('the description of a pool without `warm` says how long unused servers are kept', () => {
  const idle = [
    'A server without a match is kept for 60 s although there are enough.',
    'A match takes a warm server whose round trip is at most 15 ms longer than that of the best place.',
  ]
  const at = [{ cron: '0 9 * * *', minutes: 30, min: 1 }]
  const scheduled = describePool(poolSchema.parse({ name: 'arena', deploy, at }))
  expect(scheduled).toContain('No server is kept warm, but for the times below.')
  expect(scheduled).toEqual(expect.arrayContaining(idle))
  const reused = describePool(poolSchema.parse({ name: 'arena', deploy, reuse: { maxMatches: 2 } }))
  expect(reused).toEqual(expect.arrayContaining(['No server is kept warm.', ...idle]))
})

test('the description of a pool contains every field, and no value of a variable', () => {
  const pool = poolSchema.parse({
    name: 'arena',
    deploy,
    places: [place('Frankfurt'), place('Paris')],
    warm: { hit: 0.975, maxIdleShare: 0.2, max: 30, perHour: 12.5 },
    reuse: { maxMatches: 20, maxAgeMinutes: 600 },
    keepIdleSeconds: 90,
    detourMs: 25,
    at: [
      { cron: '0 18 * * 5', timezone: 'Europe/Berlin', minutes: 240, min: 3, hit: 0.99 },
      { cron: '0 9 * * *', minutes: 30, min: 1 },
    ],
    custom: { perPlayer: 2, max: 10, emptySeconds: 60 },
  })
  expect(describePool(pool)).toEqual([
    'Its servers run game, version 1.',
    'Servers are kept warm at Frankfurt and Paris, so that 97.5 % of matches find one; 30 servers at most.',
    'A place keeps none if its idle servers would be more than 20 % of its playing ones.',
    '12.5 idle server-hours an hour are paid at most.',
    'A server serves 20 matches, and takes none 10 h after its create.',
    'A server without a match is kept for 90 s although there are enough.',
    'A match takes a warm server whose round trip is at most 25 ms longer than that of the best place.',
    'From 0 18 * * 5 (Europe/Berlin), for 4 h, three servers at least are warm at each place and 99 % of matches are ' +
      'to find one, whatever stays idle.',
    'From 0 9 * * * (UTC), for 30 min, one server at least is warm at each place.',
    'A player may start two servers at a time; ten servers of the pool at most are listed.',
    'A listed server without a player is kept for 60 s.',
  ])
})

test('the described cost of a pool under a load equals the table in docs/servers.md', () => {
  const pool = poolSchema.parse({ name: 'arena', deploy, warm: { hit: 0.95, maxIdleShare: 100 } })
  const rows = [10, 60, 180, 900, 3600].map((matchesPerHour) => {
    const { warm, hit, idle, playing } = poolCost(pool, { matchesPerHour, bootSeconds: 20, matchSeconds: 900 })
    return [matchesPerHour, warm, (hit * 100).toFixed(1), idle.toFixed(1), ((idle / playing) * 100).toFixed(0)]
  })
  expect(rows).toEqual([
    [10, 2, '99.9', '1.9', '78'],
    [60, 2, '96.0', '1.7', '11'],
    [180, 4, '98.5', '3.0', '7'],
    [900, 9, '96.3', '4.2', '2'],
    [3600, 26, '96.3', '6.7', '1'],
  ])
})

test('the described cost of a load without warm servers is one create per match', () => {
  const pool = poolSchema.parse({ name: 'arena', deploy, warm: { hit: 0.95 } })
  expect(poolCostSentence(poolCost(pool, { matchesPerHour: 10, bootSeconds: 20, matchSeconds: 900 }))).toBe(
    'With 10 matches an hour of 15 min each, and boots of 20 s, no server is kept warm; 1 create requests a match.',
  )
})

test('property: the described cost keeps warm servers within their limits, and the hit share in 0..1', () => {
  const load = fc.record({
    matchesPerHour: fc.integer({ min: 1, max: 100_000 }),
    bootSeconds: fc.integer({ min: 1, max: 300 }),
    matchSeconds: fc.integer({ min: 1, max: 7200 }),
  })
  const shape = fc.record({
    places: fc.integer({ min: 1, max: 8 }),
    hit: fc.double({ min: 0, max: 0.999, noNaN: true }),
    max: fc.integer({ min: 0, max: 200 }),
    perHour: fc.option(fc.integer({ min: 0, max: 100 }), { nil: undefined }),
  })
  fc.assert(
    fc.property(load, shape, (given, { places, hit, max, perHour }) => {
      const warm = { hit, max, perHour, maxIdleShare: 100 }
      const names = Array.from({ length: places }, (_, index) => place(`place ${index}`))
      const cost = poolCost(poolSchema.parse({ name: 'arena', deploy, places: names, warm }), given)
      expect(cost.warm).toBeLessThanOrEqual(Math.min(max, perHour ?? Infinity))
      expect(cost.hit).toBeGreaterThanOrEqual(0)
      expect(cost.hit).toBeLessThanOrEqual(1)
      expect(cost.idle).toBeGreaterThanOrEqual(0)
      expect(cost.idle).toBeLessThanOrEqual(cost.warm)
    }),
  )
})
