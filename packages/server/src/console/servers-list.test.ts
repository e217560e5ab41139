import { describe, expect, test } from 'vitest'
import type { Audit, FoundStories, ServerList } from '@muster/console/internal'
import { openConsole } from './open-console.fixture.js'

const joined = async () => {
  const world = await openConsole({
    spending: () => ({ maxServers: 10, maxCreatesPerMinute: 60, pricePerMinute: 0.5, currency: 'EUR' }),
  })
  const { matchmaker, clock, ask } = world
  const get = async <T>(path: string, token = 'looker') => {
    const answer = await ask(`/console/api/${path}`, { token })
    expect(answer.status).toBe(200)
    return answer.body as T
  }
  const queue = (id: string, players: readonly string[]) =>
    matchmaker.createTicket({
      id,
      queue: 'duel',
      players: players.map((name) => ({ id: name, ip: '198.51.100.7', attributes: { skill: 0 } })),
    })
  matchmaker.start()
  queue('a', ['ann'])
  queue('b', ['ben'])
  await clock.advance(10_000)
  return { ...world, get, queue }
}

describe('the list of servers in the console', () => {
  test('the console server list shows place, age, players and cost of each server, and the totals', async () => {
    const { get, clock, matchmaker } = await joined()
    await clock.advance(50_000)
    const list = await get<ServerList>('servers')
    const [server] = list.servers
    expect(server).toMatchObject({
      id: matchmaker.getTicket('a')?.matchId,
      matches: [matchmaker.getTicket('a')?.matchId],
      pool: null,
      mayDrain: false,
      isProcess: false,
      queue: 'duel',
      state: 'running',
      place: 'Frankfurt, Germany',
      players: 2,
    })
    const minutes = (list.at - (server?.since ?? 0)) / 60_000
    expect(minutes).toBeGreaterThan(0.9)
    expect(server?.cost).toBeCloseTo(minutes * 0.5)
    expect(list).toMatchObject({ total: 1, players: 2, currency: 'EUR' })
    expect(list.cost).toBeCloseTo(server?.cost ?? 0)
  })

  test('the console server list is empty without servers, and has no cost without a price', async () => {
    const { ask } = await openConsole()
    expect((await ask('/console/api/servers', { token: 'looker' })).body).toMatchObject({
      total: 0,
      cost: null,
      servers: [],
    })
  })
})

describe('the list of operator actions', () => {
  test('the console lists operator actions newest first, and each also in the story of its subject', async () => {
    const { get, ask, matchmaker, clock } = await joined()
    const { matchId = '' } = matchmaker.getTicket('a') ?? {}
    const act = (path: string) => ask(`/console/api/${path}`, { token: 'operator', method: 'POST' })
    await act('queues/duel/pause')
    await clock.advance(1000)
    expect((await act(`matches/${matchId}/stop`)).status).toBe(204)
    const { acts } = await get<Audit>('acts')
    expect(acts).toMatchObject([
      { who: 'olga', what: 'stop-match', id: matchId },
      { who: 'olga', what: 'pause-queue', id: 'duel' },
    ])
    await clock.advance(5000)
    const { stories } = await get<FoundStories>(`find?id=${matchId}`)
    expect(stories[0]?.events.map(({ text }) => text)).toContain('olga stopped the match.')
  })
})

describe('the search of the console', () => {
  test('the console search finds a party by the id of a member, and a server by its name and its address', async () => {
    const { get, queue, matchmaker, clock } = await joined()
    queue('party', ['cas', 'dan'])
    await clock.advance(1000)
    expect((await get<FoundStories>('find?id=party.1')).stories).toMatchObject([{ kind: 'ticket', id: 'party' }])
    const { assignment, matchId = '' } = matchmaker.getTicket('a') ?? {}
    const [server] = (await get<ServerList>('servers')).servers
    for (const host of [assignment?.fqdn ?? '', assignment?.publicIp ?? '']) {
      const { stories } = await get<FoundStories>(`find?id=${host}`)
      expect(stories).toMatchObject([{ kind: 'server', id: server?.requestId, state: 'running' }])
      expect(stories[0]?.related).toContainEqual({ kind: 'match', id: matchId })
    }
    expect((await get<FoundStories>('find?id=203.0.113.254')).stories).toEqual([])
  })
})
