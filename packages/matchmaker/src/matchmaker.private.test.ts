/** Tests matches of given players, which `createMatch` makes. */
import { afterEach, describe, expect, test } from 'vitest'
import { InvalidMatch, PlayerBusy, PlayerPlaying, UnknownQueue } from './errors.js'
import { createWorlds } from './logged-matchmaker.fixture.js'
import { deploy, duel, setUp } from './matchmaker.fixture.js'
import type { QueueDefinition } from './queues/queue.js'
import { createMatchmaker } from './create-matchmaker.js'
import { createTestService } from '@muster/hosting/service-fixture'

const { createWorld, removeAll } = createWorlds()
afterEach(removeAll)

const teams: QueueDefinition = {
  name: 'teams',
  teams: [{ name: 'side', count: 2, size: 2 }],
  rules: [{ kind: 'difference', attribute: 'skill', max: 10 }],
  deploy,
}
const ip = '198.51.100.7'
const side = (name: string, ...ids: string[]) => ({ name, players: ids.map((id) => ({ id, ip })) })
const both = { id: 'm', queue: 'teams', teams: [side('side-1', 'ann', 'ben'), side('side-2', 'cas')] }

describe('a private match created by createMatch', () => {
  test('a private match gets a server immediately, and its players get the address, regardless of rules', async () => {
    const { matchmaker, service, seen, run } = setUp({ queues: [teams] })
    await matchmaker.tick()
    const { id, tickets } = matchmaker.createMatch(both)
    expect(id).toBe('m')
    expect(tickets).toMatchObject([
      { id: 'm-1', status: 'MATCH_FOUND', team: 'side-1', privateMatch: 'm', players: [{ id: 'ann' }, { id: 'ben' }] },
      { id: 'm-2', status: 'MATCH_FOUND', team: 'side-2', matchId: tickets[0]?.matchId },
    ])
    await run(6000)
    expect(service.calls.create).toHaveLength(1)
    expect(matchmaker.getTicket('m-2')).toMatchObject({
      status: 'HOST_ASSIGNED',
      assignment: { fqdn: expect.any(String) },
    })
    expect(seen.matchFound).toMatchObject([{ queue: 'teams', expansionMs: 0 }])
    const environment = Object.fromEntries(
      (service.calls.create[0]?.environment_variables ?? []).map(({ key, value }) => [key, value]),
    )
    expect(environment['MM_TEAMS']).toBe('{"side-1":["m-1"],"side-2":["m-2"]}')
    matchmaker.playersLeft(tickets[0]?.matchId ?? '', ['ann', 'ben', 'cas'])
    await run(6000)
    expect(service.unstopped()).toEqual([])
  })

  test('a private match created before the first tick waits until the tick has opened the store', async () => {
    const { matchmaker, run, status } = setUp({ queues: [teams] })
    expect(matchmaker.createMatch(both).tickets).toMatchObject([
      { status: 'SEARCHING', waitingFor: 'servers', version: 1 },
      { status: 'SEARCHING', waitingFor: 'servers', version: 1 },
    ])
    await run(250)
    expect([status('m-1'), status('m-2')]).toEqual(['MATCH_FOUND', 'MATCH_FOUND'])
  })

  test('a private match waits at the limit of servers, shows that, and precedes public matches', async () => {
    const { matchmaker, service, join, run, status } = setUp({ queues: [teams, duel], maxServers: 1 })
    join('x')
    join('y')
    await run(250)
    matchmaker.createMatch(both)
    join('v')
    join('w')
    await run(6000)
    expect(matchmaker.getTicket('m-1')).toMatchObject({ status: 'SEARCHING', waitingFor: 'servers' })
    expect(matchmaker.explain('m-1').summary).toBe('Its match is found, but no more servers may be deployed now.')
    void matchmaker.stopMatch(matchmaker.getTicket('x')?.matchId ?? '')
    await run(1500)
    expect([status('m-1'), status('m-2'), status('v')]).toEqual(['MATCH_FOUND', 'MATCH_FOUND', 'SEARCHING'])
    expect(service.calls.create).toHaveLength(2)
  })

  test('any number of createMatch calls with the same id create one private match', async () => {
    const { matchmaker, service, run } = setUp({ queues: [teams] })
    const { tickets } = matchmaker.createMatch(both)
    expect(matchmaker.createMatch(both)).toEqual({ id: 'm', tickets })
    await run(6000)
    const assigned = { status: 'HOST_ASSIGNED' }
    expect(matchmaker.createMatch(both).tickets).toMatchObject([assigned, assigned])
    expect(service.calls.create).toHaveLength(1)
    const other = { ...both, teams: [side('side-2', 'ann', 'ben'), side('side-1', 'cas')] }
    expect(() => matchmaker.createMatch(other)).toThrow(InvalidMatch)
    expect(() => matchmaker.createMatch({ ...both, teams: [side('side-1', 'ann', 'ben')] })).toThrow(InvalidMatch)
    expect(() => matchmaker.createMatch({ ...both, id: 'm-1' })).toThrow(PlayerPlaying)
  })

  test('a private match is refused with the names of players who wait or play elsewhere', async () => {
    const { matchmaker, join, run } = setUp({ queues: [teams, duel] })
    join('cas')
    expect(() => matchmaker.createMatch(both)).toThrow(new PlayerBusy('cas', 'cas'))
    expect(matchmaker.getTicket('m-1')).toBeUndefined()
    join('x')
    await run(6000)
    const { matchId = '' } = matchmaker.getTicket('cas') ?? {}
    expect(() => matchmaker.createMatch(both)).toThrow(new PlayerPlaying('cas', 'cas', matchId))
    expect(() => join('ann')).not.toThrow()
  })

  test('players of a private match are not matched into any other match', () => {
    const { matchmaker, join } = setUp({ queues: [teams, duel] })
    matchmaker.createMatch(both)
    expect(() => join('cas')).toThrow(new PlayerBusy('cas', 'm-2'))
  })

  test('a private match awaits acceptance if its queue requires it, and a decline dissolves it', async () => {
    const asking = { ...teams, acceptance: { withinMs: 10_000, replace: true }, replaceLeavers: true }
    const { matchmaker, service, seen, run, status } = setUp({ queues: [asking] })
    matchmaker.createMatch(both)
    matchmaker.createTicket({ queue: 'teams', players: [{ id: 'zoe', ip, attributes: { skill: 1 } }] })
    await run(250)
    matchmaker.acceptMatch('m-1')
    matchmaker.declineMatch('m-2')
    expect(matchmaker.getTicket('m-1')).toMatchObject({ status: 'CANCELLED', cancelReason: 'dissolved' })
    expect(seen.cancelled?.map(({ ticket, reason }) => [ticket.id, reason])).toEqual([
      ['m-2', 'declined'],
      ['m-1', 'dissolved'],
    ])
    await run(20_000)
    expect(service.calls.create).toEqual([])
    expect(status('m-2')).toBe('CANCELLED')
    matchmaker.createMatch({ ...both, id: 'n', skipAcceptance: true })
    await run(6000)
    expect(status('n-1')).toBe('HOST_ASSIGNED')
  })

  test('a private match is dissolved if a player leaves before its server runs, which is stopped', async () => {
    const { matchmaker, service, run, status } = setUp({ queues: [teams] })
    matchmaker.createMatch(both)
    await run(500)
    matchmaker.playersLeft(matchmaker.getTicket('m-1')?.matchId ?? '', ['ben'])
    expect([status('m-1'), status('m-2')]).toEqual(['CANCELLED', 'CANCELLED'])
    await run(10_000)
    expect(service.unstopped()).toEqual([])
    expect(service.calls.create).toHaveLength(1)
  })

  test('a private match is retried with the same players after a failed deployment, up to maxAttempts', async () => {
    const fates = [{ errorMs: 1000 }, { readyMs: 1000 }]
    const { matchmaker, service, seen, run, status } = setUp({
      queues: [teams],
      service: { fate: (nth) => fates[nth - 1] ?? { errorMs: 1000 } },
    })
    matchmaker.createMatch(both)
    await run(2500)
    expect(matchmaker.getTicket('m-1')).toMatchObject({ status: 'SEARCHING', waitingFor: 'retry', attempts: 1 })
    await run(6000)
    expect([status('m-1'), status('m-2')]).toEqual(['HOST_ASSIGNED', 'HOST_ASSIGNED'])
    matchmaker.createMatch({ ...both, id: 'n', teams: [side('side-1', 'x'), side('side-2', 'y')] })
    await run(60_000)
    expect(['n-1', 'n-2'].map((id) => matchmaker.getTicket(id)?.cancelReason)).toEqual(['attempts', 'attempts'])
    expect(service.calls.create).toHaveLength(5)
    expect(seen.cancelled).toHaveLength(2)
  })

  test('a private match of which a listener of ticketCreated cancels a ticket is cancelled as a whole', async () => {
    const three = { ...teams, teams: [{ name: 'side', count: 3, size: 2 }] }
    const sides = [side('side-1', 'ann'), side('side-2', 'ben'), side('side-3', 'cas')]
    for (const cancelled of ['m-1', 'm-2', 'm-3']) {
      const { matchmaker, service, run } = setUp({ queues: [three] })
      const happened: string[] = []
      matchmaker.on('cancelled', ({ ticket, reason }) => happened.push(`${ticket.id} ${reason}`))
      matchmaker.on('ticketCreated', ({ ticket: { id } }) => {
        happened.push(`${id} created`)
        if (id === cancelled) matchmaker.cancelTicket(id)
      })
      const { tickets } = matchmaker.createMatch({ ...both, teams: sides })
      const reason = (id: string) => (id === cancelled ? 'cancelled' : 'dissolved')
      expect(tickets.map(({ id, cancelReason }) => `${id} ${cancelReason}`)).toEqual(
        ['m-1', 'm-2', 'm-3'].map((id) => `${id} ${reason(id)}`),
      )
      for (const id of ['m-1', 'm-2', 'm-3'])
        expect(happened.indexOf(`${id} ${reason(id)}`)).toBeGreaterThan(happened.indexOf(`${id} created`))
      expect(happened).toHaveLength(6)
      await run(6000)
      expect(service.calls.create).toEqual([])
    }
  })

  test('stopMatch ends a private match for good before its server runs', async () => {
    const { matchmaker, service, run } = setUp({ queues: [teams] })
    matchmaker.createMatch(both)
    await run(500)
    void matchmaker.stopMatch(matchmaker.getTicket('m-1')?.matchId ?? '')
    expect(['m-1', 'm-2'].map((id) => matchmaker.getTicket(id)?.cancelReason)).toEqual(['dissolved', 'dissolved'])
    await run(10_000)
    expect(service.calls.create).toHaveLength(1)
    expect(service.unstopped()).toEqual([])
  })

  test('a private match expires by the time of its queue while no server is available', async () => {
    const { matchmaker, run, seen } = setUp({ queues: [{ ...teams, expireAfterMs: 3000 }, duel], maxServers: 1 })
    matchmaker.createMatch({ id: 'first', queue: 'duel', teams: [side('team', 'x', 'y')] })
    await run(250)
    matchmaker.createMatch(both)
    await run(4000)
    expect(seen.expired?.map(({ ticket }) => ticket.id)).toEqual(['m-1', 'm-2'])
  })

  test('a private match gets more players by a backfill', async () => {
    const { matchmaker, run, status } = setUp({ queues: [{ ...teams, rules: [] }] })
    matchmaker.createMatch(both)
    await run(6000)
    const { matchId = '' } = matchmaker.getTicket('m-1') ?? {}
    matchmaker.createBackfill({ matchId })
    matchmaker.createTicket({ id: 'zoe', queue: 'teams', players: [{ id: 'zoe', ip }] })
    await run(250)
    expect([status('zoe'), matchmaker.getTicket('zoe')?.matchId]).toEqual(['HOST_ASSIGNED', matchId])
  })

  test('a waiting private match is cancelled as a whole once its queue is gone or has other teams', async () => {
    const { matchmaker, run } = setUp({ queues: [teams] })
    matchmaker.createMatch(both)
    matchmaker.reconfigure([{ ...teams, teams: [{ name: 'side', size: 4 }] }])
    await run(250)
    expect(['m-1', 'm-2'].map((id) => matchmaker.getTicket(id)?.cancelReason)).toEqual(['refused', 'refused'])
  })

  test('a private match still waits for a server after kill -9, and then gets a server', async () => {
    const world = createWorld({ queues: [teams] })
    const first = await world.live()
    first.matchmaker.pauseQueue('teams')
    first.matchmaker.createMatch(both)
    await first.run(500)
    world.kill()
    const next = await world.live()
    await next.run(500)
    expect(next.matchmaker.getTicket('m-1')).toMatchObject({ status: 'SEARCHING', waitingFor: 'servers', version: 1 })
    next.matchmaker.resumeQueue('teams')
    await next.run(7000)
    expect(['m-1', 'm-2'].map(next.status)).toEqual(['HOST_ASSIGNED', 'HOST_ASSIGNED'])
    world.kill()
    const last = await world.live()
    expect(last.matchmaker.createMatch(both).tickets).toMatchObject([{ id: 'm-1', status: 'HOST_ASSIGNED' }, {}])
    await last.run(250)
    last.matchmaker.playersLeft(last.matchmaker.getTicket('m-1')?.matchId ?? '', ['ann', 'ben', 'cas'])
    await last.run(6000)
    expect(world.service.unstopped()).toEqual([])
  })

  test('a private match continues in another matchmaker that imports its tickets', async () => {
    const { matchmaker, clock } = setUp({ queues: [teams] })
    matchmaker.createMatch(both)
    const snapshot = JSON.parse(JSON.stringify(matchmaker.exportTickets({ take: true })))
    expect(matchmaker.getTicket('m-2')?.cancelReason).toBe('handed-over')
    const service = createTestService({ clock })
    const next = createMatchmaker({ deployments: service.deployments, queues: [teams], clock })
    expect(next.importTickets(snapshot).refused).toEqual([])
    await next.tick()
    expect([next.getTicket('m-1')?.status, next.getTicket('m-2')?.status]).toEqual(['MATCH_FOUND', 'MATCH_FOUND'])
  })
})

describe('the input of createMatch', () => {
  const { matchmaker } = setUp({ queues: [teams, duel] })
  const refusal = (input: unknown) => {
    try {
      matchmaker.createMatch(input as never)
    } catch (error) {
      if (error instanceof InvalidMatch) return `${error.field}: ${error.message}`
      throw error
    }
    return undefined
  }

  test.each([
    ['id', { ...both, id: 'a b' }],
    ['id', { ...both, id: 'a'.repeat(61) }],
    ['teams', { ...both, teams: [] }],
    ['teams.0.name', { ...both, teams: [side('red', 'ann')] }],
    ['teams.1.name', { ...both, teams: [side('side-1', 'ann'), side('side-1', 'ben')] }],
    ['teams.0.players', { ...both, teams: [side('side-1', 'ann', 'ben', 'cas')] }],
    ['teams.0.players', { ...both, teams: [side('side-1')] }],
    ['teams.1.players.0.id', { ...both, teams: [side('side-1', 'ann'), side('side-2', 'ann')] }],
    ['teams.0.players.0', { ...both, teams: [{ name: 'side-1', players: [{ id: 'ann' }] }] }],
    ['teams.0.players.0', { ...both, teams: [{ name: 'side-1', players: [{ id: 'ann', latencies: { Oslo: 5 } }] }] }],
    ['teams.0.players.0.ip', { ...both, teams: [{ name: 'side-1', players: [{ id: 'ann', ip: 'home' }] }] }],
    ['skipAcceptance', { ...both, skipAcceptance: 'yes' }],
    ['more', { ...both, more: 1 }],
  ])('createMatch refuses a match with a wrong %s, naming this field: %j', (field, input) => {
    const refused = refusal(input)
    expect(refused).toMatch(`${field}: match: ${field}`)
    expect(refused).not.toContain('home')
  })

  test('createMatch refuses players whose data does not fit into the environment of a server', () => {
    const long = Array.from({ length: 100 }, (_, at) => `v${at}${'x'.repeat(100)}`)
    const attributes = Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`a${index}`, long]))
    const input = { ...both, teams: [{ name: 'side-1', players: [{ id: 'ann', ip, attributes }] }] }
    expect(refusal(input)).toMatch('teams.0.players.0.attributes: match: teams.0.players.0.attributes: are too large')
  })

  test('createMatch refuses an unknown queue, and names the nearest known queue', () => {
    const create = () => matchmaker.createMatch({ ...both, queue: 'team' })
    expect(create).toThrow(UnknownQueue)
    expect(create).toThrow('There is no queue "team"; did you mean teams?')
  })
})
