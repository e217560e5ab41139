/** Tests players who leave a match before its server runs, through the whole matchmaker. */
import { describe, expect, test } from 'vitest'
import { UnknownMatch } from '../errors.js'
import { deploy, setUp } from '../matchmaker.fixture.js'
import type { QueueDefinition } from '../queues/queue.js'

const queue: QueueDefinition = {
  name: 'duel',
  teams: [{ name: 'side', count: 2, size: { min: 1, max: 2 } }],
  fillForMs: 0,
  deploy,
}
const replacing: QueueDefinition = { ...queue, replaceLeavers: true }

/** Starts a match of ann against the party of ben and bea, `ms` milliseconds after it was found. */
async function found(definition: QueueDefinition, ms: number, options: Parameters<typeof setUp>[0] = {}) {
  const all = setUp({ queues: [definition], ...options })
  const { matchmaker, join, run } = all
  join('ann')
  join('ben', 'bea')
  await run(ms)
  const { matchId = '', status } = matchmaker.getTicket('ann') ?? {}
  expect(status).toBe('MATCH_FOUND')
  return { ...all, matchId, createdAt: matchmaker.getTicket('ann')?.createdAt }
}

describe('players who leave while their server is deployed', () => {
  test('a player who leaves during the deployment is replaced if the queue sets `replaceLeavers`', async () => {
    const { matchmaker, service, seen, join, run, status, matchId } = await found(replacing, 1000)
    const { team } = matchmaker.getTicket('ann') ?? {}
    matchmaker.playersLeft(matchId, ['ann', 'nobody'])
    expect(seen.playersLeft).toEqual([{ matchId, queue: 'duel', playerIds: ['ann'], remaining: 2 }])
    expect(seen.cancelled).toMatchObject([{ ticket: { id: 'ann' }, reason: 'cancelled' }])
    join('cas')
    await run(500)
    expect(matchmaker.getTicket('cas')).toMatchObject({ status: 'MATCH_FOUND', matchId, team })
    await run(6000)
    expect(['ann', 'ben-bea', 'cas'].map(status)).toEqual(['CANCELLED', 'HOST_ASSIGNED', 'HOST_ASSIGNED'])
    expect(matchmaker.inspect().matches).toMatchObject([{ playerIds: ['ben', 'bea', 'cas'] }])
    expect(service.calls.create).toHaveLength(1)
  })

  test('a player who leaves during the deployment dissolves the match unless `replaceLeavers` is set', async () => {
    const { matchmaker, service, seen, run, matchId, createdAt } = await found(queue, 1000)
    matchmaker.playersLeft(matchId, ['ben', 'bea'])
    expect(seen.playersLeft).toMatchObject([{ playerIds: ['ben', 'bea'], remaining: 0 }])
    expect(seen.ticketRequeued).toMatchObject([{ ticket: { id: 'ann' }, reason: 'dissolved' }])
    expect(matchmaker.getTicket('ann')).toMatchObject({ status: 'SEARCHING', createdAt, attempts: 0 })
    await run(6000)
    expect(service.unstopped()).toEqual([])
    expect(matchmaker.inspect().matches).toEqual([])
  })

  test('a party member who leaves during the deployment takes the whole party out of the match', async () => {
    const { matchmaker, seen, status, matchId } = await found(replacing, 1000)
    const { team } = matchmaker.getTicket('ben-bea') ?? {}
    matchmaker.playersLeft(matchId, ['bea'])
    expect(status('ben-bea')).toBe('CANCELLED')
    expect(seen.playersLeft).toMatchObject([{ playerIds: ['bea'], remaining: 1 }])
    const [created] = seen.backfillCreated ?? []
    expect(created?.backfill.teams.filter(({ slots }) => slots > 0)).toEqual([{ name: team, slots: 2, players: [] }])
  })

  test('a report of leaving players who are not in the match is ignored', async () => {
    const { matchmaker, seen, matchId } = await found(queue, 1000)
    matchmaker.playersLeft(matchId, ['nobody'])
    expect(seen.playersLeft).toBeUndefined()
    expect(seen.cancelled).toBeUndefined()
  })
})

describe('a match that all players leave before it runs', () => {
  const asking: QueueDefinition = { ...replacing, acceptance: { withinMs: 60_000, replace: true } }
  const registering: QueueDefinition = { ...replacing, deploy: { ...deploy, probe: { kind: 'registration' } } }
  const lost = {
    fault: (method: string, nth: number) => (method === 'create' && nth === 1 ? { effect: true } : undefined),
  }

  test.each<[string, QueueDefinition, number, Parameters<typeof setUp>[0], number]>([
    ['while it awaits acceptance', asking, 500, {}, 0],
    ['while its create is in flight', replacing, 500, { service: { latencyMs: () => 2000 } }, 1],
    ['while its deployment is searched for by its tag', replacing, 500, { service: lost }, 1],
    ['while its server is not READY', replacing, 1000, {}, 1],
    ['while its server has not registered', registering, 8000, {}, 1],
  ])(
    'a match that all players leave before it runs is removed with its server and backfills: %s',
    async (_, definition, ms, options, servers) => {
      const { matchmaker, service, seen, run, status, matchId } = await found(definition, ms, options)
      matchmaker.playersLeft(matchId, ['ann'])
      matchmaker.playersLeft(matchId, ['ben', 'bea'])
      expect(['ann', 'ben-bea'].map(status)).toEqual(['CANCELLED', 'CANCELLED'])
      expect(seen.playersLeft).toMatchObject([{ remaining: 2 }, { remaining: 0 }])
      await run(60_000)
      expect(service.records).toHaveLength(servers)
      expect(service.unstopped()).toEqual([])
      expect(matchmaker.inspect()).toMatchObject({ matches: [], queues: [{ backfills: 0 }] })
      // Report the same players again, and report an unknown match.
      await matchmaker.playersLeft(matchId, ['ben', 'bea'])
      expect(seen.playersLeft).toHaveLength(2)
      expect(() => matchmaker.playersLeft('nope', ['ann'])).toThrow(UnknownMatch)
    },
  )
})

test('a player named twice in one report of a running match leaves once', async () => {
  const { matchmaker, service, seen, run, matchId } = await found(queue, 1000)
  await run(6000)
  matchmaker.playersLeft(matchId, ['bea', 'bea', 'bea'])
  expect(seen.playersLeft).toEqual([{ matchId, queue: 'duel', playerIds: ['bea'], remaining: 2 }])
  await run(1000)
  expect(service.unstopped()).toEqual(['r1'])
})

test('players who leave a match whose server is being stopped are ignored', async () => {
  const { matchmaker, seen, run, matchId } = await found(queue, 1000)
  const stopped = matchmaker.stopMatch(matchId)
  matchmaker.playersLeft(matchId, ['ann'])
  expect(seen.playersLeft).toBeUndefined()
  await run(1000)
  await stopped
  await matchmaker.playersLeft(matchId, ['ann'])
  expect(seen.playersLeft).toBeUndefined()
})
