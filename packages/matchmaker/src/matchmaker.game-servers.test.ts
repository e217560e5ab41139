import { readJoinToken } from '@muster/game-server/internal'
import {
  createMemoryServerLog,
  type ServerLog,
  type ServerReport,
  RegistrationBody,
  ReportBody,
} from '@muster/hosting/internal'
import { describe, expect, test } from 'vitest'
import { deploy, duel, setUp } from './matchmaker.fixture.js'
import type { Ticket } from './tickets/index.js'

const queues = [{ ...duel, deploy: { ...deploy, probe: { kind: 'registration' as const } } }]
const registration = RegistrationBody.parse({ instance: 'one', build: '1.0' })

type World = ReturnType<typeof setUp>

const tokenOf = ({ service }: Pick<World, 'service'>, nth = 0) =>
  service.calls.create[nth]?.environment_variables?.find(({ key }) => key === 'MUSTER_SERVER_TOKEN')?.value ?? ''

/** Starts a match of ann and ben whose deployment is READY. Returns a function that reports as its server. */
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

describe('the game server of a match', () => {
  test('a game server gets its match when it registers, and its players are sent once it reports ready', async () => {
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

  test('a game server that refuses its match is replaced, and the players keep their place', async () => {
    const { matchmaker, token, matchId, report, run, service, seen } = await deployed()
    matchmaker.registerServer(token, registration)
    report({ matches: [{ id: matchId, status: 'refused' }] })
    await run(7000)
    expect(seen.deploymentFailed).toMatchObject([{ requestId: 'r1', reason: 'not-listening' }])
    expect(service.unstopped()).toEqual(['r2'])
    expect(matchmaker.getTicket('ann-ben')).toMatchObject({ status: 'MATCH_FOUND', attempts: 1 })
    expect(() => matchmaker.registerServer(token, registration)).toThrow(/no longer needed/)
    const late = report({ matches: [{ id: matchId, status: 'over', players: { ann: 'left', ben: 'left' } }] })
    await expect(late).rejects.toThrow(/no longer needed/)
    expect(matchmaker.getTicket('ann-ben')).toMatchObject({ status: 'MATCH_FOUND' })
  })

  test('players whom a game server reports as left are free, and cannot be reported as present again', async () => {
    const { matchmaker, token, open, run, seen, join } = await deployed()
    matchmaker.registerServer(token, registration)
    open({ ann: 'in', ben: 'in' })
    await run(250)
    open({ ann: 'in', ben: 'left' })
    expect(seen.playersLeft).toMatchObject([{ playerIds: ['ben'], remaining: 1 }])
    expect(join('ben').status).toBe('SEARCHING')
    // A repeated report, and a late earlier one, change nothing.
    open({ ann: 'in', ben: 'left' })
    matchmaker.reportServer(token, ReportBody.parse({ instance: 'one', seq: 1, matches: [] }))
    expect(seen.playersLeft).toHaveLength(1)
    expect(matchmaker.inspect().matches).toMatchObject([{ playerIds: ['ann'] }])
  })

  test('a game server ends its match with a result: its players are free, and the server is stopped', async () => {
    const { matchmaker, token, matchId, open, run, seen, service, join } = await deployed()
    matchmaker.registerServer(token, registration)
    open({ ann: 'in', ben: 'in' })
    await run(250)
    const result = { ranking: [['ann'], ['ben']], data: { rounds: 3 } }
    const orders = await open({ ann: 'in', ben: 'in' }, { status: 'over', result })
    expect(orders).toMatchObject({ want: 'stop', matches: [] })
    expect(seen.matchOver).toEqual([
      { matchId, queue: 'duel', playerIds: ['ann', 'ben'], ticketIds: ['ann-ben'], reason: 'over', result },
    ])
    expect(matchmaker.getTicket('ann-ben')?.ended).toMatchObject({ reason: 'match-over' })
    expect(join('ann').status).toBe('SEARCHING')
    await run(1000)
    expect(service.unstopped()).toEqual([])
    expect(seen.deploymentStopped).toMatchObject([{ reason: 'over' }])
    // The server repeats its report until it gets a response.
    await expect(open({}, { status: 'over', result })).rejects.toThrow(/no longer needed/)
    expect(seen.matchOver).toHaveLength(1)
  })

  test('a match is over if its server’s report omits it, and the answer comes once the end is stored', async () => {
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

  test('a game server that repeats an old report cannot remove a player who has returned since', async () => {
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

  test('a game server can request that open seats are filled, and gets the backfilled players', async () => {
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

  test('a game server reports open seats once, and each player who leaves later is replaced', async () => {
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
  ])('open seats that a game server reports %s are filled once that is possible', async (_, ms) => {
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
    // The backfill is filled. The repeated request for seats opens no second one.
    open(late, { seats })
    join('dan')
    await run(500)
    expect(seen.backfillJoined).toHaveLength(1)
    expect(seen.problem ?? []).toEqual([])
  })

  test('a server’s long poll is answered when its orders change, or after the wait time', async () => {
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

  test('a second registration of a server drains the first process, and is reported as a problem', async () => {
    const { matchmaker, token, matchId, report, open, run, seen } = await deployed()
    matchmaker.registerServer(token, registration)
    open({ ann: 'in' })
    await run(250)
    const again = matchmaker.registerServer(token, { ...registration, instance: 'two' })
    expect(again.matches).toMatchObject([{ id: matchId }])
    expect(seen.problem).toMatchObject([{ during: 'server', matchId }])
    // Reports of the replaced process no longer count.
    const old = await report({ matches: [{ id: matchId, status: 'over' }] })
    expect(old).toMatchObject({ want: 'drain', reason: 'replaced', matches: [] })
    expect(seen.matchOver).toBeUndefined()
    await run(26_000)
    await expect(report()).rejects.toThrow(/Another process/)
    expect(matchmaker.inspect().matches).toHaveLength(1)
  })

  test('a silent game server keeps its match while the status of its deployment shows it running', async () => {
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
})

test('the join token of a player is valid on their server until their match is over', async () => {
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
