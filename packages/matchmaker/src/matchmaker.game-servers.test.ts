import { readJoinToken } from '@muster/game-server/internal'
import { createMemoryStore, type StoreMemory } from '@muster/hosting'
import {
  createMemoryServerLog,
  type ServerLog,
  type ServerReport,
  RegistrationBody,
  ReportBody,
} from '@muster/hosting/internal'
import { describe, expect, test } from 'vitest'
import { deploy, duel, setUp } from './matchmaker.fixture.js'
import { createMatchmaker } from './create-matchmaker.js'
import type { Ticket } from './tickets/index.js'

const queues = [{ ...duel, deploy: { ...deploy, probe: { kind: 'registration' as const } } }]
const registration = RegistrationBody.parse({ instance: 'one', build: '1.0' })

type World = ReturnType<typeof setUp>

const tokenOf = ({ service }: Pick<World, 'service'>, nth = 0) =>
  service.calls.create[nth]?.environment_variables?.find(({ key }) => key === 'MUSTER_SERVER_TOKEN')?.value ?? ''

/** A match of ann and ben whose deployment is READY, and the reports of its server. */
async function deployed(options: Parameters<typeof setUp>[0] = {}) {
  const world = setUp({ queues, ...options })
  world.join('ann', 'ben')
  await world.run(6000)
  const token = tokenOf(world)
  const [match] = world.matchmaker.inspect().matches
  const matchId = match?.matchId ?? ''
  let seq = 0
  const report = (given: Omit<Partial<ServerReport>, 'matches'> & { readonly matches?: unknown } = {}) =>
    world.matchmaker.reportServer(token, ReportBody.parse({ instance: 'one', seq: (seq += 1), ...given }))
  const open = (players: Readonly<Record<string, string>> = {}, more: object = {}) =>
    report({ matches: [{ id: matchId, status: 'open', players, ...more }] })
  return { ...world, token, matchId, report, open }
}

describe('the server of a match', () => {
  test('learns of its match when it registers, and its players come once it says that they may', async () => {
    const { matchmaker, token, matchId, open, run, status } = await deployed()
    expect(status('ann-ben')).toBe('MATCH_FOUND')
    const registered = matchmaker.registerServer(token, registration)
    expect(registered).toMatchObject({
      id: matchId,
      want: 'run',
      matches: [{ id: matchId, queue: 'duel', teams: [{ players: [{ id: 'ann' }, { id: 'ben' }] }] }],
    })
    expect(JSON.stringify(registered.matches)).not.toContain('198.51.100')
    expect(matchmaker.registerServer(token, registration)).toEqual(registered)
    open()
    await run(250)
    expect(status('ann-ben')).toBe('HOST_ASSIGNED')
  })

  test('that cannot serve its match is replaced, and the players keep their place', async () => {
    const { matchmaker, token, matchId, report, run, service, seen } = await deployed()
    matchmaker.registerServer(token, registration)
    report({ matches: [{ id: matchId, status: 'refused' }] })
    await run(7000)
    expect(seen.deploymentFailed).toMatchObject([{ requestId: 'r1', reason: 'not-listening' }])
    expect(service.unstopped()).toEqual(['r2'])
    expect(matchmaker.getTicket('ann-ben')).toMatchObject({ status: 'MATCH_FOUND', attempts: 1 })
    expect(() => matchmaker.registerServer(token, registration)).toThrow(/not wanted any more/)
  })

  test('says who has left: the player is free at once, and may not be taken for one who is there', async () => {
    const { matchmaker, token, open, run, seen, join } = await deployed()
    matchmaker.registerServer(token, registration)
    open({ ann: 'in', ben: 'in' })
    await run(250)
    open({ ann: 'in', ben: 'left' })
    expect(seen.playersLeft).toMatchObject([{ playerIds: ['ben'], remaining: 1 }])
    expect(join('ben').status).toBe('SEARCHING')
    // A report that repeats it, and a late one of before, change nothing.
    open({ ann: 'in', ben: 'left' })
    matchmaker.reportServer(token, ReportBody.parse({ instance: 'one', seq: 1, matches: [] }))
    expect(seen.playersLeft).toHaveLength(1)
    expect(matchmaker.inspect().matches).toMatchObject([{ playerIds: ['ann'] }])
  })

  test('ends its match with a result: its players are free, and the server is stopped', async () => {
    const { matchmaker, token, matchId, open, run, seen, service, join } = await deployed()
    matchmaker.registerServer(token, registration)
    open({ ann: 'in', ben: 'in' })
    await run(250)
    const result = { ranking: [['ann'], ['ben']], data: { rounds: 3 } }
    const orders = await open({ ann: 'in', ben: 'in' }, { status: 'over', result })
    expect(orders).toMatchObject({ want: 'stop', matches: [] })
    expect(seen.matchOver).toEqual([{ matchId, queue: 'duel', playerIds: ['ann', 'ben'], reason: 'over', result }])
    expect(matchmaker.getTicket('ann-ben')?.ended).toMatchObject({ reason: 'match-over' })
    expect(join('ann').status).toBe('SEARCHING')
    await run(1000)
    expect(service.unstopped()).toEqual([])
    expect(seen.deploymentStopped).toMatchObject([{ reason: 'over' }])
    // Repeated until it has heard the answer.
    await expect(open({}, { status: 'over', result })).rejects.toThrow(/not wanted any more/)
    expect(seen.matchOver).toHaveLength(1)
  })

  test('that leaves its match out has ended it, and is answered once a restart would know that', async () => {
    const memory = createMemoryServerLog()
    let release = () => {}
    const append: ServerLog['append'] = async (entries) => {
      if (entries.some(({ kind }) => kind === 'dropped')) await new Promise<void>((resolve) => (release = resolve))
      await memory.append(entries)
    }
    const { matchmaker, token, open, report, run, seen } = await deployed({
      serverLog: { open: () => memory.open(), append },
    })
    matchmaker.registerServer(token, registration)
    open()
    await run(250)
    let isAnswered = false
    const answer = report().then(() => (isAnswered = true))
    await run(500)
    expect(seen.matchOver).toHaveLength(1)
    expect(isAnswered).toBe(false)
    release()
    await answer
  })

  test('says that a player has left, who came back to an open seat meanwhile: they keep it', async () => {
    const { matchmaker, token, open, run, seen, join, status } = await deployed()
    matchmaker.registerServer(token, registration)
    const seats = { open: true }
    open({ ann: 'in', ben: 'in' }, { seats })
    await run(250)
    open({ ann: 'in', ben: 'left' }, { seats })
    join('ben')
    await run(500)
    expect(status('ben')).toBe('HOST_ASSIGNED')
    open({ ann: 'in', ben: 'left' }, { seats })
    expect(matchmaker.inspect().matches).toMatchObject([{ playerIds: ['ann', 'ben'] }])
    expect(matchmaker.getTicket('ben')?.ended).toBeUndefined()
    open({ ann: 'in', ben: 'in' }, { seats })
    open({ ann: 'in', ben: 'left' }, { seats })
    expect(matchmaker.inspect().matches).toMatchObject([{ playerIds: ['ann'] }])
    expect(seen.playersLeft).toHaveLength(2)
  })

  test('wants seats filled: whoever comes by the backfill is in its orders', async () => {
    const { matchmaker, token, open, run, join, seen } = await deployed()
    const { version } = matchmaker.registerServer(token, registration)
    open({ ann: 'in', ben: 'in' })
    await run(250)
    open({ ann: 'in', ben: 'left' })
    const known = await open({ ann: 'in', ben: 'left' }, { seats: { open: true } })
    const waiting = matchmaker.waitForServerOrders(token, { version: known.version, waitMs: 60_000 })
    join('cid')
    await run(500)
    expect(seen.backfillJoined).toHaveLength(1)
    const orders = await waiting
    const names = orders.matches.flatMap(({ teams }) => teams.flatMap(({ players }) => players.map(({ id }) => id)))
    expect(names.toSorted()).toEqual(['ann', 'cid'])
    expect(orders.version).not.toBe(version)
    await expect(open({}, { seats: { open: true, teams: { green: 1 } } })).rejects.toThrow(
      'matches.0.seats.teams.green: the match has no such team',
    )
  })

  test('says once that seats are open: whoever leaves is replaced, again and again', async () => {
    const { matchmaker, token, open, run, join, seen } = await deployed()
    matchmaker.registerServer(token, registration)
    const seats = { open: true }
    open({ ann: 'in', ben: 'in' }, { seats })
    await run(250)
    open({ ann: 'in', ben: 'left' }, { seats })
    join('cid')
    await run(500)
    open({ ann: 'left', cid: 'in' }, { seats })
    join('dan')
    await run(500)
    expect(seen.backfillJoined).toHaveLength(2)
    expect(seen.problem ?? []).toEqual([])
  })

  test.each([
    ['before its match runs', 0],
    ['before a player leaves', 250],
  ])('says %s that seats are open: they are filled once that can be', async (_, ms) => {
    const { matchmaker, token, open, run, join, seen } = await deployed()
    const early = { ann: 'in', ben: 'in' }
    const late = { ann: 'in', ben: 'left' }
    matchmaker.registerServer(token, registration)
    open(early)
    await run(ms)
    const seats = { open: true }
    open(early, { seats })
    open(early, { seats })
    await run(250)
    open(late, { seats })
    join('cid')
    await run(500)
    expect(seen.backfillJoined).toHaveLength(1)
    // Filled once: what is repeated asks for nobody else.
    open(late, { seats })
    join('dan')
    await run(500)
    expect(seen.backfillJoined).toHaveLength(1)
    expect(seen.problem ?? []).toEqual([])
  })

  test.each([
    [
      'a match listed twice',
      {
        matches: [
          { id: 'm', status: 'open' },
          { id: 'm', status: 'over' },
        ],
      },
      'matches.1.id',
    ],
    [
      'more matches than it serves',
      {
        matches: [
          { id: 'm', status: 'open' },
          { id: 'n', status: 'open' },
        ],
      },
      'matches',
    ],
    ['a result before the end', { matches: [{ id: 'm', status: 'open', result: {} }] }, 'matches.0.result'],
    [
      'a player ranked twice',
      { matches: [{ id: 'm', status: 'over', players: { a: 'in' }, result: { ranking: [['a'], ['a']] } }] },
      'matches.0.result.ranking',
    ],
    [
      'a stranger ranked',
      { matches: [{ id: 'm', status: 'over', result: { ranking: [['eve']] } }] },
      'matches.0.result.ranking',
    ],
    [
      'a result of 9 KB',
      { matches: [{ id: 'm', status: 'over', result: { data: 'x'.repeat(9000) } }] },
      'matches.0.result',
    ],
  ])('reports %s: refused by field, and nothing changes', async (_, state, field) => {
    const { matchmaker, token, report } = await deployed()
    matchmaker.registerServer(token, registration)
    const before = matchmaker.inspect()
    await expect(report(state)).rejects.toThrow(expect.objectContaining({ field }) as Error)
    expect(matchmaker.inspect()).toEqual(before)
  })

  test('is heard at once when its orders change while it waits, and otherwise after the time', async () => {
    const { matchmaker, token, matchId, clock, open, run } = await deployed()
    matchmaker.registerServer(token, registration)
    open()
    await run(250)
    const { version } = await open()
    let told: unknown
    void matchmaker.waitForServerOrders(token, { version, waitMs: 10_000 }).then((orders) => (told = orders))
    await clock.advance(9999)
    expect(told).toBeUndefined()
    await clock.advance(1)
    expect(told).toMatchObject({ version: expect.any(Number) as number, want: 'run' })
    const { version: latest } = await open({ ann: 'in' })
    const waiting = matchmaker.waitForServerOrders(token, { version: latest, waitMs: 10_000 })
    await matchmaker.stopMatch(matchId, { until: 'recorded' })
    expect(await waiting).toMatchObject({ want: 'stop', reason: 'stopped', matches: [] })
  })

  test('that registers twice: the first process drains, then is gone; a problem tells of it', async () => {
    const { matchmaker, token, matchId, report, open, run, seen } = await deployed()
    matchmaker.registerServer(token, registration)
    open({ ann: 'in' })
    await run(250)
    const again = matchmaker.registerServer(token, { ...registration, instance: 'two' })
    expect(again.matches).toMatchObject([{ id: matchId }])
    expect(seen.problem).toMatchObject([{ during: 'server', matchId }])
    // What the first one says counts no more.
    const old = await report({ matches: [{ id: matchId, status: 'over' }] })
    expect(old).toMatchObject({ want: 'drain', reason: 'replaced', matches: [] })
    expect(seen.matchOver).toBeUndefined()
    await run(26_000)
    await expect(report()).rejects.toThrow(/Another process/)
    expect(matchmaker.inspect().matches).toHaveLength(1)
  })

  test('that is silent keeps its match; its status is read', async () => {
    const { matchmaker, token, open, run, service, status } = await deployed()
    matchmaker.registerServer(token, registration)
    open({ ann: 'in', ben: 'in' })
    await run(250)
    const before = service.calls.get.length
    await run(120_000)
    expect(service.calls.get.length).toBeGreaterThan(before)
    expect(status('ann-ben')).toBe('HOST_ASSIGNED')
    expect(service.unstopped()).toEqual(['r1'])
    expect(await open({ ann: 'in', ben: 'in' })).toMatchObject({ want: 'run' })
  })

  test('is known after a restart: it registers again, and its whole state is believed', async () => {
    const memory: StoreMemory = new Map()
    const first = await deployed({ store: createMemoryStore(memory) })
    first.matchmaker.registerServer(first.token, registration)
    first.open({ ann: 'in', ben: 'in' })
    await first.run(250)
    await first.matchmaker.close()
    const second = createMatchmaker({
      deployments: first.service.deployments,
      queues,
      clock: first.clock,
      store: createMemoryStore(memory),
    })
    await second.tick()
    const whole = (seq: number, players: Readonly<Record<string, string>>) =>
      ReportBody.parse({ instance: 'one', seq, matches: [{ id: first.matchId, status: 'open', players }] })
    await expect(second.reportServer(first.token, whole(9, {}))).rejects.toThrow(/not registered/)
    expect(second.registerServer(first.token, registration)).toMatchObject({
      want: 'run',
      matches: [{ id: first.matchId }],
    })
    second.reportServer(first.token, whole(10, { ann: 'in', ben: 'left' }))
    expect(second.findPlayer('ben').tickets).toEqual([])
    expect(second.findPlayer('ann').tickets).toHaveLength(1)
  })
})

test('a token of another matchmaker, a changed one and none at all are nobody’s', async () => {
  const { matchmaker, token } = await deployed()
  for (const wrong of ['', 'nobody', `x${token}`, `${token.slice(0, -2)}AA`]) {
    expect(() => matchmaker.registerServer(wrong, registration)).toThrow(/not wanted any more/)
    expect(matchmaker.isServerSecret(wrong)).toBe(false)
  }
})

test('the result of a match is kept until the backend takes it, also across a restart', async () => {
  const memory: StoreMemory = new Map()
  const secret = `whsec_${Buffer.from('x'.repeat(24)).toString('base64')}`
  const results = { url: 'http://127.0.0.1:9/results', secret }
  const first = await deployed({ store: createMemoryStore(memory), results })
  first.matchmaker.registerServer(first.token, registration)
  first.open({ ann: 'in', ben: 'in' }, { status: 'over', result: { ranking: [['ben'], ['ann']] } })
  expect([...(memory.get('result')?.values() ?? [])].map(({ value }) => JSON.parse(value) as unknown)).toMatchObject([
    { matchId: first.matchId, playerIds: ['ann', 'ben'], result: { ranking: [['ben'], ['ann']] } },
  ])
  await first.matchmaker.close()
  expect(memory.get('result')?.size).toBe(1)
})

test('a player’s join token is valid on their server, for their match, until it is over', async () => {
  const { matchmaker, token, matchId, open, run, clock } = await deployed()
  const registered = matchmaker.registerServer(token, registration)
  const { id } = registered
  const key = Buffer.from(registered.key, 'base64url')
  const ticket = () => matchmaker.getTicket('ann-ben') as Ticket
  expect(matchmaker.joinToken(ticket(), 'ann')).toBeUndefined()
  open()
  await run(250)
  const join = matchmaker.joinToken(ticket(), 'ben') ?? ''
  const joinKey = { alg: registered.alg, server: id, key }
  expect(readJoinToken(join, joinKey, clock.now())).toMatchObject({
    sub: 'ben',
    mid: matchId,
    sid: 'ann-ben.1',
    team: 'team',
    grp: 'ann-ben',
  })
  expect(() => readJoinToken(join, joinKey, clock.now() + 301_000)).toThrow('The join token has expired.')
  expect(matchmaker.joinToken(ticket(), 'eve')).toBeUndefined()
  open({}, { status: 'over' })
  expect(matchmaker.joinToken(ticket(), 'ben')).toBeUndefined()
})
