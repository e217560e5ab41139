import { afterEach, describe, expect, test } from 'vitest'
import { InvalidInput } from '@muster/core'
import { PlayerBusy, PlayerPlaying } from './errors.js'
import { createWorlds, duel } from './logged-matchmaker.fixture.js'
import { readBack } from '@muster/hosting/store-fixture'

const { createWorld, removeAll } = createWorlds()
afterEach(removeAll)

test('the ticket log holds a command before the call returns, and a tick before waiters are notified', async () => {
  const world = createWorld()
  const { matchmaker, log, join } = await world.live()
  const states = () => {
    const records = readBack(world.path()).get('ticket') ?? []
    return records.map(({ key, change = '{}' }) => [key, (JSON.parse(change) as { status?: string }).status])
  }
  join('ann')
  expect(states()).toEqual([['ann', undefined]])
  join('cas')
  matchmaker.cancelTicket('cas')
  expect(states()).toEqual([['ann', undefined]])
  join('ben')
  let told: unknown
  const change = matchmaker.waitForChange('ann', { version: 1 }).then(() => (told = states()))
  await matchmaker.tick()
  await change
  expect(told).toEqual([
    ['ann', 'MATCH_FOUND'],
    ['ben', 'MATCH_FOUND'],
  ])
  await log.close()
})

describe('the ticket log after kill -9', () => {
  test('after kill -9 tickets keep their wait time, their players and their priority', async () => {
    const world = createWorld({ queues: [duel, { ...duel, name: 'trio', matchSize: 3 }] })
    const first = await world.live()
    const before = first.matchmaker.createTicket({
      queues: ['duel', 'trio'],
      priority: 7,
      players: [
        {
          id: 'Bjørn\n\t"x"',
          coordinates: { latitude: 59.9, longitude: 10.7 },
          attributes: { skill: 5, maps: ['a', 'b'] },
          latencies: { Oslo: 20 },
          roles: ['tank'],
          avoid: ['eve'],
        },
        { id: 'ann', ip: '2001:db8::7' },
      ],
    })
    await world.clock.advance(5000)
    world.kill()
    await world.clock.advance(1000)
    const { matchmaker } = await world.live()
    expect(matchmaker.getTicket(before.id)).toEqual(before)
    const [ticket] = matchmaker.exportTickets().tickets
    expect(ticket).toEqual(first.matchmaker.exportTickets().tickets[0])
    expect(matchmaker.explain(before.id).waitedMs).toBe(6000)
    expect(() => matchmaker.createTicket({ queue: 'duel', players: [{ id: 'ann', ip: '192.0.2.1' }] })).toThrow(
      PlayerBusy,
    )
  })

  test('after kill -9 a repeated create returns its ticket, and cancelled tickets stay cancelled', async () => {
    const world = createWorld({ queues: [{ ...duel, matchSize: 3 }] })
    const first = await world.live({ endedTicketTtlMs: 100 })
    const ann = first.join('ann')
    first.join('ben')
    first.matchmaker.cancelTicket('ben')
    first.join('cas')
    await first.run(500)
    first.matchmaker.cancelTicket('cas')
    first.join('ben')
    world.kill()
    const next = await world.live()
    expect(next.join('ann')).toEqual(ann)
    expect(next.status('ben')).toBe('SEARCHING')
    expect(next.matchmaker.getTicket('cas')).toBeUndefined()
    expect(next.seen.ticketCreated).toBeUndefined()
  })

  test('tickets that expired while no process ran are cancelled at the restart, and listeners notified', async () => {
    const world = createWorld({ queues: [{ ...duel, matchSize: 3, expireAfterMs: 10_000 }] })
    const first = await world.live()
    first.join('ann')
    await world.clock.advance(6000)
    first.join('ben')
    world.kill()
    await world.clock.advance(5000)
    const next = await world.live()
    await next.run(250)
    expect(next.seen.expired).toMatchObject([{ ticket: { id: 'ann', version: 2 } }])
    expect(next.status('ben')).toBe('SEARCHING')
    world.kill()
    expect((await world.live()).matchmaker.getTicket('ann')).toBeUndefined()
  })

  test('a ticket’s wait time starts at 0 after a restart with a clock that was set back', async () => {
    const world = createWorld({ queues: [{ ...duel, matchSize: 3 }] })
    const first = await world.live()
    await world.clock.advance(100_000)
    first.join('ann')
    world.kill()
    const slow = { now: () => world.clock.now() - 90_000, sleep: world.clock.sleep }
    const next = await world.live({ clock: slow, log: { clock: slow } })
    expect(next.matchmaker.explain('ann').waitedMs).toBe(0)
  })

  test('after a restart without a queue, its tickets are cancelled unless they are in another queue, too', async () => {
    const other = { ...duel, name: 'other', matchSize: 3 }
    const world = createWorld({ queues: [{ ...duel, matchSize: 3 }, other] })
    const first = await world.live()
    first.join('ann')
    first.matchmaker.createTicket({ id: 'both', queues: ['duel', 'other'], players: [{ id: 'ben', ip: '192.0.2.1' }] })
    world.kill()
    const next = await world.live({ queues: [other] })
    await next.run(250)
    expect(next.seen.cancelled).toMatchObject([{ ticket: { id: 'ann' }, reason: 'refused' }])
    expect(next.status('both')).toBe('SEARCHING')
  })

  test.each([
    ['before its create was sent', 0, 1],
    ['while its server starts', 2000, 1],
    ['after its players got the server address', 6500, 1],
  ])('a match continues in the next process after kill -9: %s', async (_, ms, servers) => {
    const world = createWorld()
    const first = await world.live()
    first.join('ann')
    first.join('ben', 'bob')
    first.matchmaker.cancelTicket('ben-bob')
    first.join('cas')
    if (ms === 0) await first.matchmaker.tick()
    else await first.run(ms)
    const { matchId } = first.matchmaker.getTicket('ann') ?? {}
    expect(matchId).toBeDefined()
    world.kill()
    const next = await world.live()
    expect(next.matchmaker.getTicket('cas')).toMatchObject({ matchId })
    await next.run(8000)
    expect(next.matchmaker.getTicket('ann')).toMatchObject({
      status: 'HOST_ASSIGNED',
      matchId,
      assignment: { fqdn: 'r1.example.com' },
    })
    expect(world.service.records).toHaveLength(servers)
    expect(() => next.join('ann', 'eve')).toThrow(PlayerPlaying)
    next.matchmaker.playersLeft(matchId ?? '', ['ann', 'cas'])
    await next.run(3000)
    expect(world.service.unstopped()).toEqual([])
    world.kill()
    // Nothing about an ended match is kept.
    expect((await world.live()).matchmaker.getTicket('ann')).toBeUndefined()
  })

  test('after kill -9 the players of a match that awaited acceptance search again', async () => {
    const world = createWorld({ queues: [{ ...duel, acceptance: { withinMs: 20_000 } }] })
    const first = await world.live()
    first.join('ann')
    first.join('ben')
    await first.run(250)
    first.matchmaker.acceptMatch('ann')
    world.kill()
    const next = await world.live()
    await next.run(250)
    expect(next.seen.ticketRequeued).toMatchObject([{ ticket: { id: 'ann' } }, { ticket: { id: 'ben' } }])
    next.matchmaker.declineMatch('ann')
    world.kill()
    expect((await world.live()).matchmaker.getTicket('ann')).toBeUndefined()
  })

  test('an open backfill is restored after kill -9, until its match is over', async () => {
    const world = createWorld({ queues: [{ ...duel, matchSize: undefined, teams: [{ name: 'all', size: 3 }] }] })
    const first = await world.live()
    for (const id of ['ann', 'ben', 'cas']) first.join(id)
    await first.run(6500)
    const { matchId = '' } = first.matchmaker.getTicket('ann') ?? {}
    first.matchmaker.playersLeft(matchId, ['ann'])
    const backfill = first.matchmaker.createBackfill({ matchId })
    world.kill()
    // The store cannot be read temporarily, and the file is rewritten meanwhile.
    const second = await world.live({
      over: (serverLog) => ({ ...serverLog, open: () => Promise.reject(new Error('not now')) }),
      log: { compactAtBytes: 1 },
    })
    await second.run(250)
    await second.log.advance()
    world.kill()
    const next = await world.live()
    await next.run(250)
    expect(next.matchmaker.getBackfill(backfill.id)).toEqual(backfill)
    next.join('dee')
    await next.run(500)
    expect(next.matchmaker.getTicket('dee')).toMatchObject({ status: 'HOST_ASSIGNED', matchId })
    expect(next.matchmaker.getBackfill(backfill.id)?.status).toBe('FILLED')
    world.kill()
    const last = await world.live()
    await last.run(250)
    // If the game server repeats the create, it gets this backfill instead of a second one.
    const filled = last.matchmaker.createBackfill({ id: backfill.id, matchId, teams: [{ name: 'all', players: [] }] })
    expect(filled).toMatchObject({ status: 'FILLED', tickets: ['dee'] })
    expect(last.status('dee')).toBe('HOST_ASSIGNED')
    await last.run(60_000)
    expect(last.matchmaker.getBackfill(backfill.id)).toBeUndefined()
    world.kill()
    expect((await world.live()).matchmaker.getBackfill(backfill.id)).toBeUndefined()
  })

  test.each([0, 36_000_000])(
    'a backfill relaxes on time after a restart with a clock that was set back by %i ms',
    async (backMs) => {
      const relaxing = {
        kind: 'difference',
        attribute: 'skill',
        max: [
          { afterMs: 0, value: 10 },
          { afterMs: 5000, value: 1000 },
        ],
      } as const
      const all = { ...duel, matchSize: undefined, teams: [{ name: 'all', size: 2 }], rules: [relaxing] }
      const world = createWorld({ queues: [all] })
      const skilled = (id: string, skill: number) => ({
        id,
        queue: 'duel',
        players: [{ id, ip: '192.0.2.1', attributes: { skill } }],
      })
      const first = await world.live()
      for (const id of ['ann', 'ben']) first.matchmaker.createTicket(skilled(id, 0))
      await first.run(6500)
      const { matchId = '' } = first.matchmaker.getTicket('ann') ?? {}
      first.matchmaker.playersLeft(matchId, ['ann'])
      first.matchmaker.createBackfill({ matchId })
      world.kill()
      const slow = { now: () => world.clock.now() - backMs, sleep: world.clock.sleep }
      const next = await world.live({ clock: slow, log: { clock: slow } })
      await next.run(250)
      next.matchmaker.createTicket(skilled('dee', 500))
      await next.run(10_000)
      expect(next.matchmaker.getTicket('dee')).toMatchObject({ status: 'HOST_ASSIGNED', matchId })
    },
  )
})

describe('private matches, presence and pauses after kill -9', () => {
  test('an absent client has the whole presence time again after kill -9', async () => {
    const world = createWorld({ queues: [{ ...duel, presence: { withinMs: 10_000 } }] })
    const first = await world.live()
    first.join('ann')
    await first.run(9000)
    world.kill()
    const next = await world.live()
    await next.run(9500)
    expect(next.status('ann')).toBe('SEARCHING')
    await next.run(11_000)
    expect(next.matchmaker.getTicket('ann')).toMatchObject({ cancelReason: 'absent' })
  })
})

test('a store can be used by one matchmaker at a time, and only under the name that created it', async () => {
  const world = createWorld()
  const first = await world.live({ name: 'eu' })
  first.join('ann')
  await expect(world.live({ name: 'eu', store: first.log })).rejects.toThrow(/is locked by/)
  world.kill()
  await expect(world.live({ name: 'us' })).rejects.toThrow(
    'option store: belongs to matchmaker "eu", not "us". Use another folder. ' +
      'If the name was changed, first run with the former name until all servers have ended, because nothing else ' +
      'stops servers with the tag mm-eu.',
  )
  world.kill()
  const next = await world.live({ name: 'eu' })
  expect(next.status('ann')).toBe('SEARCHING')
  await expect(createWorld().live({ store: next.log })).rejects.toThrow(/is already used by another matchmaker/)
  await expect(createWorld().live({ store: {} as never })).rejects.toThrow(InvalidInput)
})
