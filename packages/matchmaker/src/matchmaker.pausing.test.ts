/** Tests queues and pools that an operator has paused. */
import { createMemoryStore, type PoolDefinition, type StoreMemory } from '@muster/hosting'
import { expect, test } from 'vitest'
import { createMatchmaker } from './create-matchmaker.js'
import { UnknownQueue } from './errors.js'
import { duel, setUp } from './matchmaker.fixture.js'
import type { Inspection } from './matches/index.js'
import type { MatchmakerOptions } from './options.js'

const other = { ...duel, name: 'other' }
const ip = '198.51.100.7'

test('a paused queue accepts tickets, which count their wait, but makes no match until it is resumed', async () => {
  const { matchmaker, seen, join, run, status } = setUp()
  matchmaker.pauseQueue('duel')
  matchmaker.pauseQueue('duel')
  const { createdAt } = join('ann')
  join('ben')
  await run(60_000)
  expect([status('ann'), status('ben')]).toEqual(['SEARCHING', 'SEARCHING'])
  expect(matchmaker.inspect().queues).toMatchObject([{ name: 'duel', paused: true, searching: { players: 2 } }])
  matchmaker.resumeQueue('duel')
  matchmaker.resumeQueue('duel')
  expect(matchmaker.inspect().queues).toMatchObject([{ paused: false }])
  await run(250)
  expect(matchmaker.getTicket('ann')).toMatchObject({ status: 'MATCH_FOUND', createdAt })
  expect(seen.queuePaused).toEqual([{ queue: 'duel' }])
  expect(seen.queueResumed).toEqual([{ queue: 'duel' }])
})

test('explain reports that a ticket waits because its queue is paused', async () => {
  const { matchmaker, join } = setUp({ queues: [duel, other] })
  join('ann')
  matchmaker.pauseQueue('duel')
  expect(matchmaker.explain('ann')).toMatchObject({
    summary: 'The queue is paused.',
    queues: [{ queue: 'duel', paused: true, summary: 'The queue is paused.' }],
  })
  const { id } = matchmaker.createTicket({ queues: ['duel', 'other'], players: [{ id: 'zoe', ip }] })
  expect(matchmaker.explain(id).summary).toBe('duel: The queue is paused. other: Nobody else waits.')
})

test('tickets of a paused queue expire at the same time as without the pause', async () => {
  const { matchmaker, seen, join, run } = setUp({ queues: [{ ...duel, expireAfterMs: 3000 }] })
  matchmaker.pauseQueue('duel')
  join('ann')
  await run(3500)
  expect(seen.expired?.map(({ ticket }) => ticket.id)).toEqual(['ann'])
})

test('a pause affects neither found matches nor other queues, which still match tickets of both', async () => {
  const { matchmaker, join, run, status } = setUp({
    queues: [{ ...duel, acceptance: { withinMs: 10_000 } }, other],
  })
  join('ann')
  join('ben')
  await run(250)
  matchmaker.pauseQueue('duel')
  for (const id of ['x', 'y']) matchmaker.createTicket({ id, queues: ['duel', 'other'], players: [{ id, ip }] })
  matchmaker.acceptMatch('ann')
  matchmaker.acceptMatch('ben')
  await run(6000)
  expect(['ann', 'ben', 'x', 'y'].map(status)).toEqual(Array.from({ length: 4 }, () => 'HOST_ASSIGNED'))
  expect(matchmaker.getTicket('x')?.queue).toBe('other')
})

test('a paused queue makes no match by backfill, on arrival or by createMatch', async () => {
  const teams = [{ name: 'team', size: { min: 1, max: 2 } }]
  const { matchmaker, join, run, status } = setUp({
    queues: [{ ...duel, teams, matchSize: undefined, fillForMs: 0, mode: 'arrival' }],
  })
  matchmaker.start()
  join('ann')
  await run(6000)
  const { matchId = '' } = matchmaker.getTicket('ann') ?? {}
  matchmaker.pauseQueue('duel')
  matchmaker.createBackfill({ matchId })
  join('ben')
  matchmaker.createMatch({ id: 'm', queue: 'duel', teams: [{ name: 'team', players: [{ id: 'cas', ip }] }] })
  await run(2000)
  expect([status('ben'), status('m-1')]).toEqual(['SEARCHING', 'SEARCHING'])
  expect(matchmaker.explain('m-1').summary).toBe('The queue is paused.')
  matchmaker.resumeQueue('duel')
  await run(500)
  expect([matchmaker.getTicket('ben')?.matchId, status('m-1')]).toEqual([matchId, 'MATCH_FOUND'])
  await matchmaker.stop()
})

test('if a queue is paused in the middle of a tick, its other matches of that tick are not made', async () => {
  const { matchmaker, join, status } = setUp()
  for (const id of ['ann', 'ben', 'cas', 'dee']) join(id)
  // The listener runs after grouping, between two claims.
  matchmaker.on('matchFound', () => matchmaker.pauseQueue('duel'))
  await matchmaker.tick()
  const found = ['ann', 'ben', 'cas', 'dee'].filter((id) => status(id) === 'MATCH_FOUND')
  expect(found).toHaveLength(2)
  matchmaker.resumeQueue('duel')
  await matchmaker.tick()
  expect(['ann', 'ben', 'cas', 'dee'].map(status)).toEqual(Array.from({ length: 4 }, () => 'MATCH_FOUND'))
})

test('the pause of a queue survives reconfigure for as long as the queue exists', async () => {
  const { matchmaker, join, run, status } = setUp({ queues: [duel, other] })
  matchmaker.pauseQueue('duel')
  matchmaker.reconfigure([{ ...duel, expireAfterMs: 10_000 }, other])
  join('ann')
  join('ben')
  await run(500)
  expect(status('ann')).toBe('SEARCHING')
  matchmaker.reconfigure([other])
  matchmaker.reconfigure([duel, other])
  expect(matchmaker.inspect().queues.map(({ paused }) => paused)).toEqual([false, false])
})

test('pausing or resuming an unknown queue is refused', () => {
  const { matchmaker } = setUp()
  expect(() => matchmaker.pauseQueue('duell')).toThrow(UnknownQueue)
  expect(() => matchmaker.resumeQueue('duell')).toThrow('did you mean')
})

const arena: PoolDefinition = {
  name: 'arena',
  deploy: { application: 'game', version: '1' },
  places: [{ name: 'Oslo', latitude: 59.9, longitude: 10.7 }],
  at: [{ cron: '* * * * *', minutes: 2, min: 2 }],
}
const pooled = { pools: [arena], queues: [{ name: 'duel', matchSize: 2, pool: 'arena' }] }

test('a paused pool keeps no server warm, and creates a server for each match', async () => {
  const { matchmaker, seen, service, join, run } = setUp(pooled)
  await run(2000)
  expect(service.unstopped()).toHaveLength(2)
  matchmaker.pausePool('arena', true)
  matchmaker.pausePool('arena', true)
  expect(matchmaker.inspect().pools).toMatchObject([{ paused: true, wanted: 0 }])
  for (const { matchId } of matchmaker.inspect().matches) await matchmaker.stopServer(matchId)
  await run(5000)
  expect(service.unstopped()).toEqual([])
  join('ann', 'ben')
  await run(3000)
  expect(service.unstopped()).toEqual(['r3'])
  matchmaker.pausePool('arena', false)
  await run(2000)
  expect(service.unstopped()).toEqual(['r3', 'r4', 'r5'])
  expect(seen.poolPaused).toEqual([
    { pool: 'arena', paused: true },
    { pool: 'arena', paused: false },
  ])
})

test('the pause of a pool survives reconfigure and a restart for as long as the pool exists', async () => {
  const memory: StoreMemory = new Map()
  const { matchmaker, service, clock } = setUp({ ...pooled, store: createMemoryStore(memory) })
  matchmaker.pausePool('arena', true)
  matchmaker.reconfigure(pooled.queues, { pools: [{ ...arena, keepIdleSeconds: 5 }] })
  expect(matchmaker.inspect().pools).toMatchObject([{ paused: true }])
  await clock.until(matchmaker.close())
  const begin = (options: Pick<MatchmakerOptions, 'queues' | 'pools'>) =>
    createMatchmaker({ deployments: service.deployments, clock, store: createMemoryStore(memory), ...options })
  const next = begin(pooled)
  await next.tick()
  expect(next.inspect().pools).toMatchObject([{ paused: true }])
  expect(service.unstopped()).toEqual([])
  await clock.until(next.close())
  const without = begin({ queues: [duel] })
  without.reconfigure(pooled.queues, { pools: [arena] })
  expect(without.inspect().pools).toMatchObject([{ paused: false }])
  expect(() => without.pausePool('arenas', true)).toThrow('There is no pool "arenas".')
})

test('a pause of a queue during a tick ends the search for its matches at once', async () => {
  let [time, tests] = [0, 0]
  const test = () => {
    time += 10
    tests += 1
    return false
  }
  const queues = [{ ...duel, rules: [{ kind: 'custom', name: 'nobody', test }] } as const]
  const { matchmaker, join } = setUp({ queues, stopwatch: () => time, tickBudgetMs: Infinity })
  for (let index = 0; index < 40; index += 1) join(`p${index}`)
  const ticking = matchmaker.tick()
  while (tests === 0) await new Promise((resolve) => setImmediate(resolve))
  matchmaker.pauseQueue('duel')
  const before = tests
  await ticking
  await matchmaker.tick()
  expect(tests).toBe(before)
  matchmaker.resumeQueue('duel')
  await matchmaker.tick()
  expect(tests).toBeGreaterThan(before)
})

test('a queue or pool that is removed and added again is not paused, also after a restart', async () => {
  const memory: StoreMemory = new Map()
  const options = { pools: [arena], queues: [other, ...pooled.queues] }
  const { matchmaker, service, clock } = setUp({ ...options, store: createMemoryStore(memory) })
  const paused = ({ queues, pools }: Inspection) => [...queues, ...pools].map((one) => one.paused)
  matchmaker.pausePool('arena', true)
  matchmaker.pauseQueue('duel')
  matchmaker.pauseQueue('other')
  matchmaker.reconfigure([other], { pools: [] })
  matchmaker.reconfigure(options.queues, options)
  expect(paused(matchmaker.inspect())).toEqual([true, false, false])
  await clock.until(matchmaker.close())
  const next = createMatchmaker({
    ...options,
    deployments: service.deployments,
    clock,
    store: createMemoryStore(memory),
  })
  await next.tick()
  expect(paused(next.inspect())).toEqual([true, false, false])
})
