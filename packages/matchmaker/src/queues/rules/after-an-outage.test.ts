import { seededRandom } from '@muster/core/clock'
import { createPool } from '@muster/kernel'
import { expect, test } from 'vitest'
import { compileQueue } from '../compile.js'
import { defineQueue } from '../queue.js'
import type { RuleTicket } from '../rule-parts/rule-types.js'

const NOW = 1_000_000_000_000
const relaxing = (...values: number[]) => values.map((value, at) => ({ afterMs: 5000 * at, value }))
const compiled = compileQueue(
  defineQueue({
    name: 'five',
    teams: [{ name: 'team', count: 2, size: 5 }],
    rules: [
      { kind: 'distance', maxKm: relaxing(500, 1000, 2000, 5000) },
      { kind: 'difference', attribute: 'skill', max: relaxing(50, 100, 200, 400) },
      { kind: 'roles', roles: { tank: 1, healer: 1 } },
      { kind: 'balance', attribute: 'skill', max: 1000 },
    ],
    deploy: { application: 'game', version: '1' },
  }),
)
const CITIES = [
  [40, -74],
  [34, -118],
  [19, -99],
  [-23, -46],
  [51, 0],
  [48, 2],
  [41, 29],
  [55, 37],
  [19, 73],
  [35, 139],
  [-33, 151],
] as const
const SIZES = [1, 1, 1, 1, 1, 1, 2, 2, 3]

/** Creates parties of players who mostly play one role: one of six is a tank, one of five a healer. */
function partiesOf(count: number): RuleTicket[] {
  const random = seededRandom(5)
  const around = () => random() + random() + random() - 1.5
  return Array.from({ length: count }, (_, at) => {
    const [latitude, longitude] = CITIES[Math.floor(random() * CITIES.length)] as readonly [number, number]
    const skill = 1500 + 500 * around()
    const size = SIZES[Math.floor(random() * SIZES.length)] as number
    const players = Array.from({ length: size }, (_player, index) => {
      const chance = random()
      const role = chance < 0.62 ? 'dps' : chance < 0.84 ? 'healer' : 'tank'
      const roles = random() < 0.1 ? ['dps', 'healer', 'tank'] : [role]
      return { id: `p${at}.${index}`, attributes: { skill }, roles, latencies: {}, avoid: [] }
    })
    const place = { latitude: latitude + around(), longitude: longitude + around() }
    const createdAt = NOW - Math.floor(20_000 * random())
    return { id: `t${at}`, createdAt, priority: 0, place, network: undefined, players }
  })
}

test.each([
  [10_000, 75],
  [40_000, 80],
])('one round after an outage with %d waiting tickets with roles matches %d of 100 players', (count, least) => {
  const pool = createPool(compiled.model)
  const tickets = partiesOf(count)
  const sizes = new Map(tickets.map((ticket) => [pool.add(compiled.entryOf(ticket)), ticket.players.length]))
  const playersOf = (slots: Iterable<number>) => [...slots].reduce((sum, slot) => sum + (sizes.get(slot) ?? 0), 0)
  const matched = playersOf([...pool.group(NOW)].flatMap(({ slots }) => slots))
  expect((100 * matched) / playersOf(sizes.keys())).toBeGreaterThanOrEqual(least)
})
