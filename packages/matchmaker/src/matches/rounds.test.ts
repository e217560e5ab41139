import { describe, expect, test } from 'vitest'
import { duel, setUp } from '../matchmaker.fixture.js'

const ip = '198.51.100.7'

describe('a queue of mode `arrival`', () => {
  const arrival = { ...duel, mode: 'arrival' } as const

  test('a queue of mode `arrival` matches without a tick, once for tickets that are created together', async () => {
    const { clock, matchmaker, seen, status } = setUp({ queues: [arrival], tickMs: 60_000 })
    matchmaker.start()
    await clock.advance(10)
    matchmaker.createTickets(['ann', 'ben', 'cas'].map((id) => ({ id, queue: 'duel', players: [{ id, ip }] })))
    await clock.advance(0)
    expect(['ann', 'ben', 'cas'].map(status)).toEqual(['MATCH_FOUND', 'MATCH_FOUND', 'SEARCHING'])
    matchmaker.createTicket({ id: 'dee', queue: 'duel', players: [{ id: 'dee', ip }] })
    await clock.advance(0)
    expect([status('cas'), status('dee')]).toEqual(['MATCH_FOUND', 'MATCH_FOUND'])
    expect(seen.matchFound).toHaveLength(2)
    await matchmaker.stop()
  })

  test('a queue of mode `arrival` matches when a dissolved match returns its tickets', async () => {
    const { clock, matchmaker, status } = setUp({ queues: [arrival], tickMs: 60_000 })
    matchmaker.start()
    await clock.advance(10)
    for (const id of ['ann', 'ben', 'cas']) matchmaker.createTicket({ id, queue: 'duel', players: [{ id, ip }] })
    await clock.advance(0)
    matchmaker.cancelTicket('ann')
    await clock.advance(0)
    expect([status('ben'), status('cas')]).toEqual(['MATCH_FOUND', 'MATCH_FOUND'])
    await matchmaker.stop()
  })

  test('a queue of mode `arrival` makes no match while the matchmaker is stopped', async () => {
    const { clock, matchmaker, join, status } = setUp({ queues: [arrival] })
    join('ann', 'ben')
    await clock.advance(0)
    expect(status('ann-ben')).toBe('SEARCHING')
    await matchmaker.tick()
    expect(status('ann-ben')).toBe('MATCH_FOUND')
  })
})

describe('a tick with a time budget', () => {
  const unbounded = { tickBudgetMs: Infinity, maxServers: Infinity, maxStarting: Infinity }

  test('a tick with a time budget resumes where the previous tick stopped, and misses no ticket', async () => {
    // Each call of the stopwatch adds 1 ms, so the budget is spent after five calls.
    let time = 0
    const queues = [duel, { ...duel, name: 'other' }, { ...duel, name: 'third' }]
    const { matchmaker, seen } = setUp({
      queues,
      tickBudgetMs: 5,
      stopwatch: () => (time += 1),
      maxServers: Infinity,
      maxStarting: Infinity,
    })
    const count = 2000
    for (const { name } of queues) {
      for (let index = 0; index < count; index += 1) {
        matchmaker.createTicket({ queue: name, players: [{ id: `${name}${index}`, ip }] })
      }
    }
    let ticks = 0
    for (; (seen.matchFound?.length ?? 0) < (3 * count) / 2 && ticks < 1000; ticks += 1) await matchmaker.tick()
    expect(seen.matchFound).toHaveLength((3 * count) / 2)
    expect(ticks).toBeGreaterThan(1)
    const players = seen.matchFound?.flatMap(({ tickets }) => tickets.map(({ id }) => id))
    expect(new Set(players).size).toBe(3 * count)
  })

  test.each([1, 2, 3, 4, 5, 6])(
    'a tick with a time budget loses no ticket if the queues are replaced after %i parts',
    async (parts) => {
      let time = 0
      const { matchmaker, seen } = setUp({ ...unbounded, stopwatch: () => (time += 11) })
      const count = 6000
      for (let index = 0; index < count; index += 1)
        matchmaker.createTicket({ queue: 'duel', players: [{ id: `p${index}`, ip }] })
      const ticking = matchmaker.tick()
      for (let turn = 0; turn < parts; turn += 1) await new Promise((resolve) => setImmediate(resolve))
      matchmaker.reconfigure([duel])
      await ticking
      await matchmaker.tick()
      expect(seen.matchFound).toHaveLength(count / 2)
    },
  )

  test('a tick requested during another tick runs after that tick', async () => {
    let time = 0
    const { matchmaker, seen } = setUp({ ...unbounded, stopwatch: () => (time += 11) })
    for (let index = 0; index < 4000; index += 1)
      matchmaker.createTicket({ queue: 'duel', players: [{ id: `p${index}`, ip }] })
    await Promise.all([matchmaker.tick(), matchmaker.tick(), matchmaker.tick()])
    expect(seen.matchFound).toHaveLength(2000)
  })

  test('all queues in turn share the time budget of a tick, so a slow rule delays no other queue', async () => {
    let time = 0
    const slow = {
      ...duel,
      name: 'slow',
      rules: [{ kind: 'custom', name: 'slow', test: () => ((time += 10), false) }],
    } as const
    const { matchmaker, join, status } = setUp({ queues: [slow, duel], stopwatch: () => time })
    for (let index = 0; index < 40; index += 1)
      matchmaker.createTicket({ queue: 'slow', players: [{ id: `p${index}`, ip }] })
    for (let round = 0; round < 5; round += 1) {
      join(`ann${round}`, `ben${round}`)
      join(`cas${round}`, `dee${round}`)
      const startedAt = time
      await matchmaker.tick()
      // The default of 15 % of 250 ms, plus one call of the rule
      expect(time - startedAt).toBeLessThanOrEqual(50)
      await matchmaker.tick()
      expect(status(`ann${round}-ben${round}`)).toBe('MATCH_FOUND')
    }
  })
})

test('in a crowd with few servers, the longest-waiting tickets match first, regardless of skill', async () => {
  const rule = { kind: 'difference', attribute: 'skill', max: 50 } as const
  const { clock, matchmaker, seen } = setUp({
    queues: [{ ...duel, rules: [rule] }],
    maxServers: 50,
    maxStarting: 50,
  })
  const count = 6000
  const skills = Array.from({ length: count }, (_, index) => (index * 7919) % 12_000)
  for (const [index, skill] of skills.entries()) {
    if (index % 10 === 0) await clock.advance(1)
    const players = [{ id: `p${index}`, ip, attributes: { skill } }]
    matchmaker.createTicket({ id: `t${index}`, queue: 'duel', players })
  }
  await matchmaker.tick()
  const numberOf = ({ id }: { readonly id: string }) => Number(id.slice(1))
  const served = (seen.matchFound ?? []).map(({ tickets }) => Math.min(...tickets.map(numberOf)))
  expect(served).toHaveLength(50)
  // Each match contains one of the hundred tickets that have waited longest.
  expect(Math.max(...served)).toBeLessThan(100)
})
