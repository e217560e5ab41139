import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { deploy, duel, setUp } from '../matchmaker.fixture.js'
import type { Matchmaker } from './matchmaker.js'
import type { SurveyOptions } from './survey.js'

const oslo = { latitude: 59.9, longitude: 10.7 }
const tokyo = { latitude: 35.7, longitude: 139.7 }
const relaxing = {
  name: 'relaxing',
  matchSize: 2,
  deploy,
  playersMayWaitTwice: true,
  rules: [
    {
      kind: 'difference',
      attribute: 'skill',
      max: [
        { afterMs: 0, value: 1 },
        { afterMs: 5000, value: 100 },
      ],
    },
  ],
} as const
const trio = { name: 'trio', matchSize: 3, deploy, acceptance: { withinMs: 30_000 } }

const surveyed = (matchmaker: Matchmaker, most = Infinity, options?: SurveyOptions) => {
  const survey = matchmaker.survey(options)
  while (survey.step(most));
  return survey.result()
}

test('the survey counts waiting tickets by queue, relaxation level and area', async () => {
  const { matchmaker, clock, run } = setUp({ queues: [relaxing, trio] })
  const start = clock.now()
  const wait = (id: string, skill: number, coordinates = oslo, queues = ['relaxing']) =>
    matchmaker.createTicket({ id, queues, players: [{ id, coordinates, attributes: { skill } }] })
  wait('ann', 0)
  wait('ben', 1000, oslo, ['relaxing', 'trio'])
  await run(6000)
  wait('cem', 5000, tokyo)
  matchmaker.pauseQueue('relaxing')
  const later = clock.now()
  expect(surveyed(matchmaker)).toEqual({
    queues: [
      {
        name: 'relaxing',
        paused: true,
        tickets: 3,
        players: 3,
        oldest: start,
        relaxed: [
          { afterMs: 0, tickets: 1 },
          { afterMs: 5000, tickets: 2 },
        ],
      },
      { name: 'trio', paused: false, tickets: 1, players: 1, oldest: start, relaxed: [{ afterMs: 0, tickets: 1 }] },
    ],
    areas: [
      { latitude: 58.5, longitude: 10.5, players: 2, oldest: start },
      { latitude: 34.5, longitude: 139.5, players: 1, oldest: later },
    ],
    nowhere: 0,
    forming: [],
    formingCount: 0,
    servers: [],
    gameServers: [],
    pools: [],
    blockedBy: undefined,
  })
})

test('`survey` counts the matches that have no server yet, and the existing servers', async () => {
  const { matchmaker, clock, run, join } = setUp({ queues: [duel, trio] })
  for (const id of ['x', 'y', 'z']) {
    matchmaker.createTicket({ id, queue: 'trio', players: [{ id, coordinates: id === 'z' ? tokyo : oslo }] })
  }
  join('ann')
  join('ben')
  await run(250)
  const foundAt = clock.now() - 250
  const before = surveyed(matchmaker, Infinity, { mostForming: 1 })
  expect(before.formingCount).toBe(2)
  expect(before.forming).toHaveLength(1)
  expect(surveyed(matchmaker).forming.toSorted((a, b) => a.queue.localeCompare(b.queue))).toMatchObject([
    { queue: 'duel', phase: 'starting', players: 2, foundAt, area: undefined },
    { queue: 'trio', phase: 'asking', players: 3, foundAt, area: { latitude: 58.5, longitude: 10.5 } },
  ])
  for (const id of ['x', 'y', 'z']) matchmaker.acceptMatch(id)
  await run(10_000)
  const after = surveyed(matchmaker)
  expect(after).toMatchObject({ forming: [], formingCount: 0 })
  expect(after.servers.reduce((sum, { servers }) => sum + servers, 0)).toBe(2)
  expect(after.servers.every(({ phase }) => phase === 'running')).toBe(true)
})

test('the survey counts searching tickets even while they cannot be matched', async () => {
  const { matchmaker, join, run } = setUp({
    service: { fate: () => ({ errorMs: 1000 }) },
    locate: () => new Promise(() => {}),
  })
  join('ann')
  join('ben')
  expect(surveyed(matchmaker)).toMatchObject({ queues: [{ tickets: 2 }], nowhere: 2 })
  await run(4250)
  expect(matchmaker.getTicket('ann')?.waitingFor).toBe('retry')
  expect(surveyed(matchmaker)).toMatchObject({ queues: [{ tickets: 2, players: 2 }], nowhere: 2 })
})

test.each([0, 31, Number.NaN])(
  'the survey refuses areas of %d degrees, because they must have 0.5 to 30 degrees',
  (areaDegrees) => {
    const { matchmaker } = setUp()
    expect(() => matchmaker.survey({ areaDegrees })).toThrow(/^option areaDegrees: must be from 0.5 to 30, got/)
  },
)

describe('a survey in steps of any size', () => {
  const act = fc.oneof(
    fc.record({ kind: fc.constant('create' as const), size: fc.integer({ min: 1, max: 3 }), both: fc.boolean() }),
    fc.record({ kind: fc.constant('cancel' as const), nth: fc.nat(30) }),
    fc.record({ kind: fc.constant('run' as const), ms: fc.integer({ min: 1, max: 20 }).map((n) => n * 250) }),
    fc.record({ kind: fc.constant('reconfigure' as const) }),
  )

  test('property: a survey counts the same tickets as `inspect`, each in one area or in none', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(act, { maxLength: 30 }),
        fc.integer({ min: 1, max: 7 }),
        fc.boolean(),
        async (acts, most, fails) => {
          const queues = [
            { ...relaxing, expireAfterMs: 10_000 },
            { name: 'duo', matchSize: 4, deploy, playersMayWaitTwice: true },
          ]
          const service = fails ? { fate: (nth: number) => (nth % 2 === 0 ? { errorMs: 500 } : { readyMs: 500 }) } : {}
          const { matchmaker, run } = setUp({ queues, service })
          let created = 0
          for (const one of acts) {
            if (one.kind === 'create') {
              created += 1
              const players = Array.from({ length: Math.min(2, one.size) }, (_, index) => ({
                id: `p${created}.${index}`,
                attributes: { skill: created % 7 },
                ...(one.size === 3 ? { ip: '192.0.2.1' } : { coordinates: created % 2 === 0 ? oslo : tokyo }),
              }))
              const names = one.both ? ['relaxing', 'duo'] : ['relaxing']
              matchmaker.createTicket({ id: `t${created}`, queues: names, players })
            } else if (one.kind === 'cancel') {
              try {
                matchmaker.cancelTicket(`t${one.nth}`)
              } catch {} // no such ticket, or too late
            } else if (one.kind === 'run') await run(one.ms)
            else matchmaker.reconfigure(queues)
            const seen = surveyed(matchmaker, most)
            const { queues: inspected, matches } = matchmaker.inspect()
            expect(seen.queues.map(({ name, players }) => ({ name, players }))).toEqual(
              inspected.map(({ name, players }) => ({ name, players })),
            )
            for (const [index, { tickets, relaxed }] of seen.queues.entries()) {
              const { searching } = inspected[index] as (typeof inspected)[number]
              expect(tickets).toBe(Object.values(searching).reduce((sum, count) => sum + count, 0))
              expect(relaxed.reduce((sum, step) => sum + step.tickets, 0)).toBe(tickets)
            }
            const { total } = matchmaker.longestWaiting(0)
            const placed = seen.areas.reduce((sum, { players }) => sum + players, 0) + seen.nowhere
            expect(placed).toBeGreaterThanOrEqual(total)
            expect(placed).toBe(
              matchmaker.longestWaiting(total).tickets.reduce((sum, { players }) => sum + players.length, 0),
            )
            expect(seen.servers.reduce((sum, { servers }) => sum + servers, 0)).toBe(matches.length)
          }
        },
      ),
      { numRuns: 25 },
    )
  })
})
