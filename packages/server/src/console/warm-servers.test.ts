/** Tests pools and their servers in the console: the list, a server's story, and the button that drains it. */
import { RegistrationBody, ReportBody } from '@muster/matchmaker/internal'
import { expect, test } from 'vitest'
import type { Audit, FoundStories, ServerList } from '@muster/console/internal'
import { openConsole } from './open-console.fixture.js'

const arena = {
  name: 'arena',
  deploy: { application: 'game', version: '1' },
  places: [{ name: 'Oslo', latitude: 59.9, longitude: 10.7 }],
  reuse: { maxMatches: 20 },
  at: [{ cron: '* * * * *', minutes: 2, min: 1 }],
}

/** Starts a registered warm server, on which ann and ben play if `playing`. */
async function open(playing: boolean) {
  const world = await openConsole({
    queues: [{ name: 'duel', matchSize: 2, pool: 'arena' }],
    matchmaker: { pools: [arena] },
    spending: () => ({ maxServers: 10, maxCreatesPerMinute: 60, pricePerMinute: 0.5, currency: 'EUR' }),
  })
  const { matchmaker, clock, ask, service } = world
  matchmaker.start()
  await clock.advance(8000)
  const token = service.tokenOf('s1')
  let seq = 0
  const report = (status?: string) => {
    const { matchId } = matchmaker.getTicket('a') ?? {}
    const matches = status === undefined ? [] : [{ id: matchId, status, players: { ann: 'in', ben: 'in' } }]
    return matchmaker.reportServer(token, ReportBody.parse({ instance: 'one', seq: (seq += 1), matches }))
  }
  const { id } = matchmaker.registerServer(token, RegistrationBody.parse({ instance: 'one', build: '7' }))
  await clock.advance(2000)
  if (playing) {
    const player = (name: string) => ({ id: name, ip: '198.51.100.7', attributes: { skill: 0 } })
    matchmaker.createTicket({ id: 'a', queue: 'duel', players: [player('ann'), player('ben')] })
    await clock.advance(500)
    await report('open')
    await clock.advance(500)
  }
  const get = async <T>(path: string) => {
    const answer = await ask(`/console/api/${path}`, { token: 'looker' })
    expect(answer.status).toBe(200)
    expect(answer.text).not.toMatch(/198\.51\.100/)
    expect(answer.text).not.toContain(token)
    return answer.body as T
  }
  const drain = (as: string) => ask(`/console/api/servers/${id}/drain`, { token: as, method: 'POST' })
  return { ...world, get, id, report, drain, matchId: matchmaker.getTicket('a')?.matchId ?? '' }
}

test('the console server list shows a pool’s warm servers, how often matches find one, and the cost', async () => {
  const { get, id, clock } = await open(false)
  await clock.advance(598_000)
  const { pools, servers, total } = await get<ServerList>('servers')
  expect(pools).toMatchObject([
    { pool: 'arena', place: 'Oslo', wanted: 1, warm: 0, asked: 0, hits: 0, cameLastHour: 0, expectedHit: null },
  ])
  // The server was stopped after ten minutes of silence. Until then it cost half a euro a minute.
  expect(pools[0]?.idleCost).toBeCloseTo((pools[0]?.idleHours ?? 0) * 30)
  expect(pools[0]?.idleHours).toBeCloseTo(85 / 3600)
  expect(servers.map((server) => server.id)).not.toContain(id)
  expect(total).toBe(servers.length)
})

test('the console shows a match on a pool server in the line of that server, not as a server of its own', async () => {
  const { get, id, matchId } = await open(true)
  const { pools, servers, total, players } = await get<ServerList>('servers')
  expect(pools).toMatchObject([{ warm: 0, starting: 1, playing: 1, asked: 1, hits: 1, cameLastHour: 1 }])
  expect([total, players]).toEqual([2, 2])
  expect(servers.find((server) => server.id === id)).toMatchObject({
    pool: 'arena',
    queue: 'duel',
    matches: [matchId],
    state: 'playing',
    players: 2,
    mayDrain: true,
    draining: null,
  })
})

test('the line and story of a listed server show its name, its seats and its players', async () => {
  const { get, id, matchmaker, service } = await open(false)
  const listing = { name: 'Night CTF', seats: 16, players: { ann: 'in', ben: 'in', cid: 'away' } }
  matchmaker.reportServer(service.tokenOf('s1'), ReportBody.parse({ instance: 'one', seq: 1, matches: [], listing }))
  matchmaker.holdSeats({ serverId: id, playerIds: ['dan'] })
  const { servers, players } = await get<ServerList>('servers')
  expect(servers.find((server) => server.id === id)).toMatchObject({
    state: 'playing',
    matches: [],
    listing: { name: 'Night CTF', seats: 16, taken: 2, held: 1 },
    players: 2,
  })
  expect(players).toBe(2)
  const { stories } = await get<FoundStories>('find?id=s1')
  expect(stories[0]).toMatchObject({ kind: 'server', state: 'listed as Night CTF, 2 of 16 seats taken, 1 held' })
})

test('the story of a server covers its life from deployment to end, with reasons', async () => {
  const { get, id, matchId, report, clock, drain } = await open(true)
  await report('over')
  await clock.advance(1000)
  expect((await get<FoundStories>('find?id=s1')).stories[0]).toMatchObject({
    kind: 'server',
    id: 's1',
    serverId: id,
    state: 'warm, without a match',
    actions: ['drain-server'],
    cut: false,
  })
  expect((await drain('operator')).status).toBe(204)
  await clock.advance(8000)
  const { stories } = await get<FoundStories>('find?id=s1')
  expect(stories).toHaveLength(1)
  expect(stories[0]?.events.map(({ what, text }) => `${what}: ${text}`)).toEqual([
    'deployed: The service accepted the server.',
    expect.stringMatching(/^ready: The server was ready after/) as string,
    'registered: The server registered as build 7.',
    'taken: A match took the server, which was warm.',
    expect.stringMatching(/^assigned: Players of 1 ticket were sent to the server/) as string,
    'freed: The match left its server: its server said that it is over.',
    'draining: The server takes no more matches: an operator asked for that.',
    'ended: The server was stopped: it was draining and had no match left.',
    'operated: olga let the server take no more matches.',
  ])
  expect(stories[0]).toMatchObject({ state: 'stopped', actions: [] })
  // The server can also be found by its own id. It is not a match.
  expect((await get<FoundStories>(`find?id=${id}`)).stories.map(({ kind, id: found }) => [kind, found])).toEqual([
    ['server', 's1'],
  ])
  const [match] = (await get<FoundStories>(`find?id=${matchId}`)).stories
  expect(match?.events.map(({ what }) => what)).toEqual(['found', 'taken', 'assigned', 'freed'])
  expect(match).toMatchObject({ kind: 'match', state: 'over', actions: [] })
})

test('the story of a server contains the match that had to wait for its deployment', async () => {
  const world = await open(true)
  const { matchmaker, clock, get } = world
  const player = (name: string) => ({ id: name, ip: '198.51.100.7', attributes: { skill: 0 } })
  for (const [ticket, names] of Object.entries({ b: ['cid', 'dan'], c: ['eve', 'fay'] }))
    matchmaker.createTicket({ id: ticket, queue: 'duel', players: names.map(player) })
  await clock.advance(2000)
  const taken = matchmaker.inspect().matches.find(({ ticketIds }) => ticketIds.includes('c'))?.hosted?.serverId
  const host = matchmaker.inspect().matches.find(({ matchId }) => matchId === taken)?.requestId ?? ''
  const { stories } = await get<FoundStories>(`find?id=${host}`)
  expect(stories[0]?.events[0]).toMatchObject({
    what: 'taken',
    text: 'A match took the server, which is created for it.',
  })
  expect(stories[0]?.events.map(({ what }) => what)).toContain('deployed')
})

test('a drain needs the role operate or deploy, and appears in the server list, the log and the changes', async () => {
  const { get, id, drain, acts } = await open(true)
  for (const role of ['looker', 'keeper', 'designer']) expect((await drain(role)).status).toBe(403)
  expect((await drain('operator')).status).toBe(204)
  const { servers, pools } = await get<ServerList>('servers')
  expect(servers.find((server) => server.id === id)).toMatchObject({
    state: 'draining',
    draining: 'operator',
    mayDrain: false,
  })
  expect(pools).toMatchObject([{ draining: 1, playing: 0 }])
  expect((await get<Audit>('acts')).acts).toMatchObject([{ who: 'olga', what: 'drain-server', id }])
  expect(acts).toEqual([{ who: 'olga', what: 'drain-server', id }])
  expect((await drain('deployer')).status).toBe(204)
})
