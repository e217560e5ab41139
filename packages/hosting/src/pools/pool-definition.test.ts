import { expect, test } from 'vitest'
import { poolSchema, scheduledGoals } from './pool-definition.js'

const SECOND = 1000
const MINUTE = 60_000
const deploy = { application: 'game', version: '1' }

test('a pool’s schedule applies from its cron time for `minutes` minutes, in any order of queries', () => {
  const at = [{ cron: '0 20 * * *', timezone: 'Europe/Berlin', minutes: 3, min: 2 }]
  const pool = poolSchema.parse({ name: 'arena', deploy, at })
  const begins = Date.UTC(2026, 0, 5, 19)
  const minAt = (ms: number) => scheduledGoals(pool, begins + ms).min
  const times = Array.from({ length: 40 }, (_, nth) => nth * 9.5 * SECOND - MINUTE)
  for (const ms of [-1, 0, 1, 3 * MINUTE - 1, 3 * MINUTE, ...times, ...times.toReversed()])
    expect([ms, minAt(ms)]).toEqual([ms, ms >= 0 && ms < 3 * MINUTE ? 2 : 0])
})

test.each([
  ['0 0 30 2 *', false],
  ['0 0 31 4,6 *', false],
  ['0 0 29 2 *', true],
  ['0 0 31 4 1', true],
])('a schedule needs a date that exists (%s)', (cron, exists) => {
  const { error } = poolSchema.safeParse({ name: 'arena', deploy, at: [{ cron, minutes: 1, min: 1 }] })
  const fault = ['at.0.cron', 'must name a date that exists, such as February 29 but not February 30']
  expect((error?.issues ?? []).map(({ path, message }) => [path.join('.'), message])).toEqual(exists ? [] : [fault])
})

test('if several schedules of a pool are active, the highest `min` and the highest `hit` apply', () => {
  const always = { cron: '* * * * *', minutes: 1 }
  const at = [
    { ...always, hit: 0.5, min: 3 },
    { ...always, hit: 0.9 },
    { ...always, min: 1 },
  ]
  expect(scheduledGoals(poolSchema.parse({ name: 'arena', deploy, at }), Date.UTC(2026, 0, 5))).toEqual({
    hit: 0.9,
    min: 3,
  })
})

test('names of a pool and of its places have no control characters, which would change the log that shows them', () => {
  const place = { name: 'ham\u001b[2Jburg', latitude: 53.6, longitude: 10 }
  const { error } = poolSchema.safeParse({ name: 'are\nna', deploy, places: [place] })
  const fault = 'must have no control, direction, zero-width or filler characters'
  expect(error?.issues.map(({ path, message }) => [path.join('.'), message])).toEqual([
    ['name', fault],
    ['places.0.name', fault],
  ])
})
