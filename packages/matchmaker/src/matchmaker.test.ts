import { ServerError } from '@muster/core'
import { describe, expect, test } from 'vitest'
import { PlayerBusy, UnknownMatch, UnknownQueue, UnknownTicket } from './errors.js'
import { duel, setUp } from './matchmaker.fixture.js'

describe('the first match of two players', () => {
  test('the first match of two players deploys a server, and both players receive its address', async () => {
    const { service, matchmaker, names, seen, join, run } = setUp()
    const createdAt = join('ann').createdAt
    join('ben')
    await run(500)
    expect(matchmaker.getTicket('ann')).toMatchObject({ status: 'MATCH_FOUND', createdAt, matchedAt: createdAt })
    await run(6000)

    const { matchId, assignment } = matchmaker.getTicket('ann') ?? {}
    expect(matchmaker.getTicket('ben')).toMatchObject({ status: 'HOST_ASSIGNED', matchId, assignment })
    expect(assignment).toEqual({
      server: matchId,
      fqdn: 'r1.example.com',
      publicIp: '203.0.113.9',
      ports: { game: { internal: 7777, external: 30_000, protocol: 'UDP', link: 'r1.example.com:30000' } },
      location: {
        city: 'Oslo',
        country: 'Norway',
        latitude: 59.9,
        longitude: 10.7,
        continent: undefined,
        administrativeDivision: undefined,
        timezone: undefined,
      },
    })
    expect(names).toEqual(['ticketCreated', 'ticketCreated', 'matchFound', 'deploymentCreated', 'serverAssigned'])
    expect(seen.serverAssigned?.[0]?.tickets.map(({ id }) => id)).toEqual(['ann', 'ben'])

    expect(service.calls.create).toHaveLength(1)
    expect(service.calls.create[0]).toMatchObject({
      application: 'game',
      version: '1',
      users: [{ user_type: 'ip_address' }, { user_type: 'ip_address' }],
      tags: ['mm-muster', `match-${matchId}`],
    })
    await matchmaker.stopMatch(matchId ?? '')
    expect(service.unstopped()).toEqual([])
    expect(seen.deploymentStopped).toEqual([{ matchId, queue: 'duel', requestId: 'r1', reason: 'stopped' }])
    await matchmaker.stopMatch(matchId ?? '')
    expect(service.calls.stop).toHaveLength(1)
    await expect(matchmaker.stopMatch('nope')).rejects.toThrow(UnknownMatch)
  })

  test('no output of the matchmaker shows a player’s address', async () => {
    const { matchmaker, seen, join, run } = setUp()
    join('ann', 'ben')
    await run(6000)
    expect(JSON.stringify([seen, matchmaker.inspect(), matchmaker.getTicket('ann-ben')])).not.toContain('198.51')
  })

  test('a matchmaker makes matches in ticks, which `start` runs and `stop` pauses', async () => {
    const { clock, matchmaker, join, status } = setUp()
    matchmaker.start()
    matchmaker.start()
    join('ann', 'ben')
    await clock.advance(7000)
    expect(status('ann-ben')).toBe('HOST_ASSIGNED')
    await matchmaker.stop()
    expect(clock.sleepers).toBe(0)
    join('cas', 'dee')
    await clock.advance(1000)
    expect(status('cas-dee')).toBe('SEARCHING')
    matchmaker.start()
    await clock.advance(7000)
    expect(status('cas-dee')).toBe('HOST_ASSIGNED')
    await matchmaker.stop()
  })

  test('a server that the list shows as ready is used if its status cannot be read', async () => {
    const { matchmaker, join, run } = setUp({
      service: { fault: (method) => (method === 'get' ? { error: new ServerError('down') } : undefined) },
    })
    join('ann', 'ben')
    await run(7000)
    expect(matchmaker.getTicket('ann-ben')).toMatchObject({
      status: 'HOST_ASSIGNED',
      assignment: { fqdn: 'r1.example.com', location: undefined },
    })
  })

  test('a ready server is found by its status if the list cannot be read', async () => {
    const { join, run, status } = setUp({
      service: { fault: (method) => (method === 'list' ? { error: new ServerError('down') } : undefined) },
    })
    join('ann', 'ben')
    await run(7000)
    expect(status('ann-ben')).toBe('HOST_ASSIGNED')
  })

  test('a webhook triggers a read of the deployment, even before its create was answered', async () => {
    const { clock, service, matchmaker, join } = setUp({
      service: { fate: () => ({ readyMs: 0 }), latencyMs: () => 50 },
    })
    join('ann', 'ben')
    void matchmaker.tick()
    matchmaker.hint('r1')
    matchmaker.hint('r-unknown')
    await clock.advance(150)
    await matchmaker.tick()
    expect(service.calls.get).toEqual([{ request_id: 'r1' }])
    await clock.advance(150)
    expect(matchmaker.getTicket('ann-ben')?.status).toBe('HOST_ASSIGNED')
  })

  test.each([
    ['is not listed any more', false],
    ['is still listed', true],
  ])('a match whose server ends by itself is removed if the deployment %s', async (_, listsEnded) => {
    const { matchmaker, seen, join, run } = setUp({
      service: { listsEnded, fate: () => ({ readyMs: 1000, endMs: 10_000 }) },
    })
    join('ann', 'ben')
    await run(60_000)
    expect(seen.deploymentStopped?.[0]?.reason).toBe('ended')
    expect(matchmaker.inspect().matches).toEqual([])
  })
})

describe('tickets of a matchmaker', () => {
  test('a ticket created again with the same id is returned, and refused if its content differs', () => {
    const { matchmaker, join, names } = setUp()
    expect(join('ann')).toEqual(join('ann'))
    expect(names).toEqual(['ticketCreated'])
    expect(() =>
      matchmaker.createTicket({ id: 'ann', queue: 'duel', players: [{ id: 'eve', ip: '198.51.100.7' }] }),
    ).toThrow('ticket: id: "ann" already belongs to a ticket')
  })

  test('two tickets cannot share a player, and the error names the player’s other ticket', async () => {
    const { matchmaker, join, run, clock } = setUp()
    join('ann', 'ben')
    const again = () => matchmaker.createTicket({ queue: 'duel', players: [{ id: 'ben', ip: '198.51.100.7' }] })
    expect(again).toThrow(PlayerBusy)
    expect(again).toThrow(expect.objectContaining({ playerId: 'ben', ticketId: 'ann-ben' }))
    await run(6000)
    const matchId = matchmaker.getTicket('ann-ben')?.matchId ?? ''
    expect(again).toThrow(expect.objectContaining({ name: 'PlayerPlaying', playerId: 'ben', matchId }))
    await clock.until(matchmaker.stopMatch(matchId))
    expect(again().status).toBe('SEARCHING')
  })

  test('a ticket for an unknown queue or with a party that fits into no match is refused', () => {
    const { matchmaker, join } = setUp()
    expect(() => matchmaker.createTicket({ queue: 'chess', players: [{ id: 'ann', ip: '198.51.100.7' }] })).toThrow(
      UnknownQueue,
    )
    expect(() => join('ann', 'ben', 'cas')).toThrow('ticket: players: a party of 3 is too big: a team takes at most 2')
  })

  test('a ticket expires after its time, and is removed after the retention time', async () => {
    const { matchmaker, seen, join, run, status } = setUp({
      queues: [{ ...duel, expireAfterMs: 10_000 }],
      endedTicketTtlMs: 5000,
    })
    join('ann')
    await run(10_250)
    expect(matchmaker.getTicket('ann')).toMatchObject({ status: 'CANCELLED', cancelReason: 'expired' })
    expect(seen.expired).toHaveLength(1)
    expect(seen.cancelled).toBeUndefined()
    await run(5250)
    expect(status('ann')).toBeUndefined()
    expect(() => matchmaker.cancelTicket('ann')).toThrow(UnknownTicket)
  })

  test('tickets match nearby players first if places are known, and others after a wait', async () => {
    const places: Record<string, { latitude: number; longitude: number }> = {
      '192.0.2.1': { latitude: 59.9, longitude: 10.7 },
      '192.0.2.2': { latitude: 35.7, longitude: 139.7 },
    }
    const queues = [
      {
        ...duel,
        rules: [
          {
            kind: 'distance',
            maxKm: [
              { afterMs: 0, value: 500 },
              { afterMs: 5000, value: 10_000 },
            ],
          },
        ] as const,
      },
    ]
    const { matchmaker, run, status } = setUp({ queues, locate: (ip) => Promise.resolve(places[ip]) })
    matchmaker.createTicket({ id: 'oslo', queue: 'duel', players: [{ id: 'oslo', ip: '192.0.2.1' }] })
    matchmaker.createTicket({ id: 'tokyo', queue: 'duel', players: [{ id: 'tokyo', ip: '192.0.2.2' }] })
    expect(matchmaker.getTicket('oslo')?.waitingFor).toBe('location')
    await run(4750)
    expect([status('oslo'), matchmaker.getTicket('oslo')?.waitingFor]).toEqual(['SEARCHING', 'players'])
    await run(500)
    expect(status('oslo')).toBe('MATCH_FOUND')
  })

  test('a ticket waits only a limited time for a slow lookup of its place', async () => {
    const { join, run, status } = setUp({ locate: () => new Promise(() => {}), locateTimeoutMs: 1000 })
    join('ann')
    join('ben')
    await run(1000)
    expect(status('ann')).toBe('SEARCHING')
    await run(250)
    expect(status('ann')).toBe('MATCH_FOUND')
  })
})

describe('events', () => {
  test('`waitForChange` takes a ticket itself for its version', async () => {
    const { matchmaker, join } = setUp()
    const ticket = join('ann')
    const change = matchmaker.waitForChange(ticket.id, ticket)
    matchmaker.cancelTicket(ticket.id)
    expect((await change).status).toBe('CANCELLED')
  })

  test('the function that `on` returns ends one subscription, not others of the same listener', () => {
    const { matchmaker, join } = setUp()
    let heard = 0
    const listener = () => void (heard += 1)
    const off = matchmaker.on('ticketCreated', listener)
    matchmaker.on('ticketCreated', listener)
    off()
    off()
    join('ann')
    expect(heard).toBe(1)
  })

  test('a listener that throws or rejects affects neither the tick nor other listeners', async () => {
    const { matchmaker, join, run, status, seen } = setUp()
    let heard = 0
    matchmaker.on('matchFound', () => {
      throw new Error('mine')
    })
    matchmaker.on('matchFound', async () => {
      throw new Error('mine too')
    })
    const off = matchmaker.on('matchFound', () => void (heard += 1))
    join('ann', 'ben')
    await run(6000)
    expect([status('ann-ben'), heard]).toEqual(['HOST_ASSIGNED', 1])
    off()
    join('cas', 'dee')
    await run(500)
    expect(heard).toBe(1)
    const problems = seen.problem?.map(({ during, event, error }) => [during, event, String(error)])
    expect(problems).toContainEqual(['listener', 'matchFound', 'Error: mine'])
    expect(problems).toContainEqual(['listener', 'matchFound', 'Error: mine too'])
  })
})
