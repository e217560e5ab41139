import { expect, test } from 'vitest'
import { crowd, models, NOW } from './greedy.fixture.js'
import type { Entry, Model } from './data/model.js'
import { entryOf, modelOf, noChecks, spanOf } from './plain.fixture.js'
import { createPool, STEP } from './pool.js'

const TICK_MS = 250
const TICKS = 60
/** Number of servers available in each tick. */
const MATCHES = 5

const teamsOf = (count: number, size: number) =>
  Array.from({ length: count }, (_, team) => {
    const min = Uint16Array.of(size, size, size)
    return { name: `team-${team}`, max: size, min }
  })
/** For large teams the rules are loose, so that only servers are scarce and not suitable players. */
const loose: Model<string> = {
  ...models.both,
  apart: undefined,
  checks: undefined,
  radius: { by: 'each', squared: Float64Array.of(2, 2, 2), unknown: 'any' },
  spans: [{ by: 'each', limit: Float64Array.of(800, 800, 800) }],
}
/** Each team of five needs a tank. Every fourth player can play tank. */
const queues: Readonly<Record<string, Model<string>>> = {
  pairs: { ...loose, teams: models.both.teams },
  tens: { ...loose, teams: teamsOf(1, 10) },
  'teams with roles': {
    ...loose,
    teams: teamsOf(2, 5),
    checks: {
      pair: undefined,
      part: undefined,
      whole: undefined,
      unevenness: undefined,
      quotas: [
        {
          countOf: (role) => (role === 'tank' ? 1 : 0),
          teams: [0, 1],
          least: Uint16Array.of(1, 1, 1),
          isSpared: true,
        },
      ],
    },
  },
}

/**
 * Simulates `load` times more players than the servers can host. Returns who was matched, and how long they had waited.
 */
function rationed(model: Model<string>, load: number) {
  const players = model.teams.reduce((sum, { max }) => sum + max, 0)
  const perTick = Math.round(players * MATCHES * load)
  const entries = crowd(perTick * TICKS, 3).map((entry, at): Entry<string> => ({
    ...entry,
    since: NOW + TICK_MS * Math.floor(at / perTick),
    facts: at % 4 === 0 ? 'tank' : 'dps',
  }))
  const pool = createPool(model)
  const bySlot = new Map<number, Entry<string>>()
  const waits = new Map<string, number>()
  for (let tick = 0; tick < TICKS; tick += 1) {
    const now = NOW + tick * TICK_MS
    for (const entry of entries.slice(tick * perTick, (tick + 1) * perTick)) bySlot.set(pool.add(entry), entry)
    const round = pool.round(now, { most: MATCHES })
    while (round.step(STEP));
    const matches = [...round.take()]
    expect(matches.length).toBeLessThanOrEqual(MATCHES)
    for (const slot of matches.flatMap(({ slots }) => slots)) {
      const { id, since } = bySlot.get(slot) as Entry<string>
      waits.set(id, now - since)
      pool.remove(slot)
    }
  }
  return { entries, waits }
}

const loads = [1.5, 3].flatMap((load) => Object.keys(queues).map((name) => ({ name, load })))

test.each(loads)(
  'with $load times as many players as servers allow, $name of every skill and place are served evenly',
  ({ name, load }) => {
    const { entries, waits } = rationed(queues[name] as Model<string>, load)
    const shareOf = (some: readonly Entry<string>[]) =>
      (100 * some.filter(({ id }) => waits.has(id)).length) / some.length
    const mean = shareOf(entries)
    expect(mean).toBeGreaterThan(90 / load)
    const skillOf = ({ values }: Entry<string>) => Math.abs((values[0] as number) - 1500)
    const northOf = ({ place }: Entry<string>) => place?.[2] ?? 0
    for (const by of [skillOf, northOf]) {
      const sorted = entries.toSorted((one, other) => by(one) - by(other))
      for (let band = 0; band < 4; band += 1) {
        const share = shareOf(sorted.slice((band * sorted.length) / 4, ((band + 1) * sorted.length) / 4))
        expect(Math.abs(share - mean)).toBeLessThan(5)
      }
    }
    // The wait of the last served players if tickets were served strictly in order of arrival.
    const inTurnMs = TICKS * TICK_MS * (1 - 1 / load)
    expect(Math.max(...waits.values())).toBeLessThanOrEqual(1.3 * inTurnMs)
  },
)

test('tickets that have waited longest are matched first, by priority', () => {
  const pool = createPool(models.values)
  const nobody = { size: 1, key: '', place: undefined, network: undefined, facts: undefined }
  const add = (id: string, since: number, priority: number) =>
    pool.add({ ...nobody, id, since, priority, values: [1500, 1500] })
  const old = [add('a', NOW - 90, 0), add('b', NOW - 80, 0)]
  for (let each = 0; each < 2000; each += 1) add(`t${each}`, NOW - 50, 0)
  const important = [add('p', NOW - 10, 1), add('q', NOW - 5, 1)]
  const made: number[][] = []
  for (const now of [NOW, NOW + 250]) {
    const round = pool.round(now, { most: 1 })
    while (round.step(STEP));
    for (const { slots } of round.take()) {
      made.push([...slots])
      for (const slot of slots) pool.remove(slot)
    }
  }
  expect(made[0]).toEqual(important)
  expect(made[1]?.some((slot) => old.includes(slot))).toBe(true)
  expect(made).toHaveLength(2)
})

test('tickets whose match got no server are matched again, in a queue with roles too', () => {
  const pool = createPool<string>({ ...(queues['teams with roles'] as Model<string>), radius: undefined, spans: [] })
  for (const [at, entry] of crowd(10, 3).entries()) pool.add({ ...entry, facts: at % 4 === 0 ? 'tank' : 'dps' })
  // The tickets of the matches stay in the pool, because nobody removes them.
  for (let round = 0; round < 3; round += 1) expect([...pool.group(NOW + round * TICK_MS)]).toHaveLength(1)
})

test.each([
  { most: 2, priority: 0 },
  { most: 2, priority: 1 },
  { most: Infinity, priority: 1 },
])(
  'if the longest waits can never match, other tickets still match ($most matches a round, priority $priority)',
  ({ most, priority }) => {
    const min = Uint16Array.of(2)
    const isPlayable = (teams: readonly (readonly string[])[]) => !teams.flat().includes('unwanted')
    const teams = ['one', 'other'].map((name) => ({ name, max: 2, min }))
    const pool = createPool(modelOf(4, { teams, checks: { ...noChecks, whole: isPlayable } }))
    for (let each = 0; each < 10; each += 1) pool.add(entryOf(`u${each}`, { priority, facts: 'unwanted' }))
    for (let each = 0; each < 100; each += 1) pool.add(entryOf(`t${each}`, { since: 100 }))
    let made = 0
    for (let now = 1000; now < 6000; now += TICK_MS) {
      pool.add(entryOf(`t${now}`, { since: now }))
      const round = pool.round(now, { most })
      while (round.step(STEP));
      const matches = [...round.take()]
      made += matches.length
      for (const slot of matches.flatMap(({ slots }) => slots)) pool.remove(slot)
    }
    expect(made).toBeGreaterThan(10)
  },
)

test('scarce servers go to the tickets that have waited longest, even if one ticket has waited for a day', () => {
  const hour = 3_600_000
  const pool = createPool(modelOf(2, { spans: [spanOf(1)] }))
  const slots = [
    ['for a day', 24, 1000],
    ['young', 0, 1],
    ['young too', 0, 1],
    ['old', 1, 50],
    ['old too', 1, 50],
  ] as const
  for (const [id, hours, skill] of slots) pool.add(entryOf(id, { since: NOW - hours * hour, values: [skill, skill] }))
  const round = pool.round(NOW, { most: 1 })
  while (round.step(STEP));
  expect([...round.take()].map((match) => match.slots.map((slot) => pool.entryOf(slot).id))).toEqual([
    ['old', 'old too'],
  ])
})
