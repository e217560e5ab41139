import { expect, test } from 'vitest'
import { isGood, type SideResult, type WarmResult } from './result.js'
import { summary } from './summary.js'

const side: SideResult = {
  players: 600,
  assigned: 596,
  expired: 4,
  lost: 0,
  matches: 149,
  toPlayMs: { p50: 4400, p95: 8460, p99: 9000 },
  warm: undefined,
  creates: 149,
  serverHours: 1.6,
  idleHours: 0,
  cost: 0.16,
  serversLeft: 0,
}
const result: WarmResult = {
  matchSize: 4,
  pricePerHour: 0.1,
  own: side,
  pool: {
    ...side,
    toPlayMs: { p50: 1200, p95: 5600, p99: 6000 },
    warm: 0.812,
    creates: 126,
    serverHours: 2.72,
    idleHours: 1.2,
    cost: 0.272,
  },
  interruptedWith: undefined,
  speed: 5,
  seconds: 28.2,
  seed: 1,
}

test('the summary of the warm demo compares both sides, with time to play and cost', () => {
  expect(summary(result, { columns: 80 }).split('\n').slice(1, 10)).toEqual([
    '                             a server each       a warm pool',
    '  time to play, p50                  4.4 s             1.2 s',
    '  time to play, p95                  8.5 s             5.6 s',
    '  found a warm server                    –              81 %',
    '  matches                              149               149',
    '  servers created                      149               126',
    '  servers ran                       96 min           163 min',
    '  of this idle                       0 min            72 min',
    '  cost                            0.16 USD          0.27 USD',
  ])
  const said = summary(result)
  expect(said).toContain('half of the players play within 1.2 s instead of 4.4 s, which costs 70 % more.')
  expect(summary({ ...result, pool: { ...result.pool, cost: 0.12 } })).toContain('which costs 25 % less.')
  expect(said.split('\n').filter((line) => line.length > 120)).toEqual([])
})

test('the warm demo fails if players are lost, servers are orphaned, or warm servers do not help', () => {
  expect(isGood(result)).toBe(true)
  for (const wrong of [{ lost: 1 }, { serversLeft: 1 }, { matches: 0 }, { toPlayMs: { p50: 4401, p95: 1, p99: 1 } }]) {
    const bad = { ...result, pool: { ...result.pool, ...wrong } }
    expect(isGood(bad)).toBe(false)
    expect(summary(bad)).toContain('This is not as it should be.')
  }
  expect(summary({ ...result, interruptedWith: 7 })).toContain('7 servers ran or started when you stopped the demo.')
})
