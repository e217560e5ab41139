import { expect, test } from 'vitest'
import type { RunOutcome } from '../run/outcome.js'
import { figuresOf } from './figures-of.js'
import { crowdOf, outcomeOf, queueOf } from './outcome.fixture.js'

const deploy = { application: 'game', version: '1' }
const queues = [queueOf({ name: 'a', pool: 'arena', deploy }), queueOf({ name: 'b', pool: 'arena', deploy }), queueOf()]

test('the pool statistics of a run equal those computed by hand: time to play, hits and cost', () => {
  const crowd = crowdOf([[{}, {}], [{}, {}], [{}, {}], [{}, {}], [{}]])
  const found = outcomeOf(
    [...[0, 1, 2, 3].map((match) => ({ match, waitMs: 1000 * match })), { end: 'gaveUp' }],
    (match) => ['a', 'b', 'b', 'queue'][match] ?? '',
  )
  const use = { created: 3, most: 2, seconds: 7200, bootSeconds: 180, idleSeconds: 1800 }
  const outcome: RunOutcome = {
    ...found,
    tickets: found.tickets.map((one, index) => (index < 4 ? { ...one, endedAt: 1000 * index + 500 } : one)),
    matches: found.matches.map((match, index) => ({ ...match, isWarm: [true, false, true, undefined][index] })),
    pools: { arena: use, custom: { ...use, created: 0, seconds: 0, bootSeconds: 0, idleSeconds: 0 } },
  }
  const { all, servers, pools } = figuresOf(crowd, outcome, { queues, price: { perMinute: 0.01, currency: 'EUR' } })
  expect(all.toPlayMs).toMatchObject({ count: 8, mean: 2000, p50: 1500, max: 3500 })
  expect(servers).toMatchObject({ hours: 1.5, playingHours: 1.483, idleHours: 0, bootHours: 0.017 })
  expect(pools['arena']).toEqual({
    matches: 3,
    warm: 0.666667,
    toPlayMs: { count: 6, mean: 1500, p10: 500, p50: 1500, p90: 2500, p95: 2500, p99: 2500, max: 2500 },
    created: 3,
    most: 2,
    hours: 2,
    playingHours: 1.45,
    idleHours: 0.5,
    bootHours: 0.05,
    cost: 1.2,
    currency: 'EUR',
  })
  expect(pools['custom']).toMatchObject({ matches: 0, warm: 0, hours: 0, cost: 0, toPlayMs: { count: 0 } })
})
