import { InvalidInput } from '@muster/core'
import {
  InvalidTicket,
  MatchmakerClosed,
  NothingToAccept,
  PlayerBusy,
  PlayerPlaying,
  AlreadyAssigned,
  UnknownMatch,
  UnknownQueue,
  UnknownTicket,
  type Ticket,
} from '@muster/matchmaker'
import { describe, expect, test } from 'vitest'
import { NoLeader } from './partition-errors.js'
import { createWorld, duel } from './world.fixture.js'

/** Two processes, of which the first leads; what is asked of the second goes by Redis. */
async function pair(options: Parameters<typeof createWorld>[0] = {}) {
  const world = createWorld(options)
  const leader = world.process()
  leader.start()
  await world.pass(100)
  const follower = world.process()
  follower.start()
  await world.pass(300)
  const join = (...ids: string[]) =>
    Promise.all(ids.map((id) => follower.createTicket({ id, queue: 'duel', players: [world.player(id)] })))
  /** The answer to something asked, after as much time as it takes. */
  const answer = async <T>(asked: Promise<T>): Promise<T> => world.clock.until(asked, 10)
  const status = async (id: string) => (await answer(follower.getTicket(id)))?.status
  const close = async () => {
    await answer(leader.close())
    await answer(follower.close())
  }
  return { ...world, leader, follower, join, answer, status, close }
}

describe('a process that does not lead', () => {
  test('creates tickets, refused as by a matchmaker', async () => {
    const { follower, player, join, answer, close } = await pair()
    const [ann] = await join('ann')
    const again = { id: 'ann', queue: 'duel', players: [player('ann')] }
    expect(await answer(follower.createTicket(again))).toEqual(ann)
    const other = follower.createTicket({ ...again, players: [player('bob')] })
    await expect(answer(other)).rejects.toThrow(InvalidTicket)
    const busy = follower.createTicket({ queue: 'duel', players: [player('ann')] })
    await expect(answer(busy)).rejects.toMatchObject({ name: 'PlayerBusy', playerId: 'ann', ticketId: 'ann' })
    await expect(answer(follower.createTicket({ queue: 'dual', players: [player('x')] }))).rejects.toThrow(UnknownQueue)
    await expect(answer(follower.createTicket({ queue: 'duel', players: [] }))).rejects.toThrow(InvalidInput)
    const results = await answer(
      follower.createTickets([
        { queue: 'duel', players: [player('ann')] },
        { queue: 'nope', players: [player('bob')] },
        { id: 'eve', queue: 'duel', players: [player('eve')] },
      ]),
    )
    expect(results).toMatchObject([
      { error: expect.any(PlayerBusy) },
      { error: expect.any(UnknownQueue) },
      { ticket: { id: 'eve' } },
    ])
    await close()
  })

  test('finds what a player is in, from the creation of a ticket until its match is over', async () => {
    const { leader, follower, join, answer, pass, close } = await pair()
    const found = async (id: string) => (await answer(follower.findPlayer(id))).tickets
    await join('ann')
    expect(await found('ann')).toMatchObject([{ id: 'ann', status: 'SEARCHING' }])
    expect(await found('eve')).toEqual([])
    await join('bob')
    await pass(5000)
    const [ticket] = await found('bob')
    expect(ticket).toMatchObject({ id: 'bob', status: 'HOST_ASSIGNED', assignment: { fqdn: 'r1.example.com' } })
    expect(await answer(leader.findPlayer('bob'))).toEqual({ tickets: [ticket] })
    await answer(follower.playersLeft(ticket?.matchId ?? '', ['ann']))
    expect([await found('ann'), (await found('bob')).length]).toEqual([[], 1])
    await answer(follower.stopMatch(ticket?.matchId ?? ''))
    expect(await found('bob')).toEqual([])
    await join('cas')
    await answer(follower.cancelTicket('cas'))
    expect(await found('cas')).toEqual([])
    await close()
  })

  test('tells who waits for a ticket as soon as it has changed, wherever', async () => {
    const { leader, follower, join, pass, close } = await pair()
    await join('ann')
    const changed: Ticket[] = []
    for (const each of [leader, follower])
      void each.waitForChange('ann', { version: 1 }).then((one) => changed.push(one))
    await pass(300)
    expect(changed).toEqual([])
    await join('bob')
    await pass(400)
    expect(changed).toMatchObject([{ version: 2, status: 'MATCH_FOUND' }, { version: 2 }])
    await pass(3000)
    // One that has ended changes no more, so nobody waits for that.
    const { version = 0 } = (await follower.getTicket('ann')) ?? {}
    expect(await follower.waitForChange('ann', { version })).toMatchObject({ status: 'HOST_ASSIGNED', version })
    await close()
  })

  test('ends waits that are aborted, and all of them when it is closed', async () => {
    const { leader, follower, join, answer } = await pair()
    await join('ann')
    const aborting = new AbortController()
    const aborted = follower.waitForChange('ann', { version: 1, signal: aborting.signal })
    aborting.abort(new Error('enough'))
    await expect(aborted).rejects.toThrow('enough')
    await expect(answer(follower.waitForChange('nobody', { version: 1 }))).rejects.toThrow(UnknownTicket)
    const open = follower.waitForChange('ann', { version: 1 })
    open.catch(() => {})
    await answer(follower.close())
    await expect(open).rejects.toThrow(MatchmakerClosed)
    await expect(follower.explain('ann')).rejects.toThrow(MatchmakerClosed)
    await answer(leader.close())
  })

  test('cancels a ticket until its players know where to connect', async () => {
    const { follower, join, pass, answer, status, service, close } = await pair()
    await join('ann', 'bob', 'eve')
    const cancelled = await answer(follower.cancelTicket('eve'))
    expect(cancelled).toMatchObject({ status: 'CANCELLED', cancelReason: 'cancelled', version: 2 })
    expect(cancelled.cancelledAt).toBeGreaterThan(0)
    expect(await answer(follower.cancelTicket('eve'))).toEqual(cancelled)
    await expect(answer(follower.cancelTicket('nobody'))).rejects.toThrow(UnknownTicket)
    await pass(400)
    expect(await status('ann')).toBe('MATCH_FOUND')
    expect(await answer(follower.cancelTicket('ann'))).toMatchObject({ status: 'CANCELLED' })
    await pass(3000)
    expect(await status('bob')).toBe('SEARCHING')
    expect(service.running()).toEqual([])
    await join('joe')
    await pass(3000)
    expect(await status('bob')).toBe('HOST_ASSIGNED')
    const late = await answer(follower.cancelTicket('bob').catch((error: unknown) => error))
    expect(late).toBeInstanceOf(AlreadyAssigned)
    expect(late).toMatchObject({ ticketId: 'bob', matchId: expect.any(String) })
    await close()
  })

  test('lets nobody wait who plays, until the match is over for them', async () => {
    const { follower, join, pass, answer, player, status, service, close } = await pair()
    await join('ann', 'bob')
    await pass(3000)
    const { matchId = '' } = (await answer(follower.getTicket('ann'))) as Ticket
    const again = () => answer(follower.createTicket({ queue: 'duel', players: [player('ann')] }))
    await expect(again()).rejects.toThrow(PlayerPlaying)
    await expect(again()).rejects.toMatchObject({ playerId: 'ann', ticketId: 'ann', matchId })
    await answer(follower.playersLeft(matchId, ['ann']))
    expect(await again()).toMatchObject({ status: 'SEARCHING' })
    await answer(follower.playersLeft(matchId, ['bob']))
    await pass(1000)
    expect(service.running()).toEqual([])
    expect(await status('bob')).toBe('HOST_ASSIGNED')
    expect(await answer(follower.createTicket({ queue: 'duel', players: [player('bob')] }))).toMatchObject({
      version: 1,
    })
    await answer(follower.playersLeft(matchId, ['bob']))
    await expect(answer(follower.playersLeft('nope', ['ann']))).rejects.toThrow(UnknownMatch)
    await close()
  })

  test('stops a match, and answers when the service has confirmed it', async () => {
    const { follower, join, pass, answer, service, close } = await pair()
    await join('ann', 'bob')
    await pass(3000)
    const { matchId = '' } = (await answer(follower.getTicket('ann'))) as Ticket
    await answer(follower.stopMatch(matchId))
    expect(service.running()).toEqual([])
    await expect(answer(follower.stopMatch('nope'))).rejects.toThrow(UnknownMatch)
    await close()
  })

  test('awaits acceptance of players, and takes their answers', async () => {
    const queue = { ...duel, acceptance: { withinMs: 10_000 } }
    const { follower, join, pass, answer, status, close } = await pair({ queues: [queue] })
    await join('ann', 'bob')
    await expect(answer(follower.acceptMatch('ann'))).rejects.toThrow(NothingToAccept)
    await pass(400)
    expect(await answer(follower.acceptMatch('ann', 'ann'))).toMatchObject({ acceptance: { accepted: ['ann'] } })
    await expect(answer(follower.acceptMatch('ann', 'eve'))).rejects.toThrow(InvalidTicket)
    expect(await answer(follower.declineMatch('bob'))).toMatchObject({ status: 'CANCELLED', cancelReason: 'declined' })
    await pass(100)
    expect(await status('ann')).toBe('SEARCHING')
    await join('eve')
    await pass(400)
    await answer(follower.acceptMatch('ann'))
    await answer(follower.acceptMatch('eve'))
    await pass(3000)
    expect([await status('ann'), await status('eve')]).toEqual(['HOST_ASSIGNED', 'HOST_ASSIGNED'])
    await close()
  })

  test('explains, inspects and lists as the leader does', async () => {
    const { follower, leader, join, pass, answer, close } = await pair()
    await join('ann')
    await pass(300)
    for (const each of [follower, leader]) {
      expect(await answer(each.explain('ann'))).toMatchObject({ ticketId: 'ann', waitingFor: 'players' })
      expect(await answer(each.inspect())).toMatchObject({ queues: [{ name: 'duel', players: 1 }], matches: [] })
      expect(await answer(each.longestWaiting(5))).toMatchObject({ total: 1, tickets: [{ id: 'ann' }] })
    }
    await expect(answer(follower.explain('nobody'))).rejects.toThrow(UnknownTicket)
    expect(follower.queueNames()).toEqual(['duel'])
    expect(follower.playerMayState('duel')?.('skill')).toBe(true)
    await close()
  })

  test('gets more players for a running match', async () => {
    const queue = { ...duel, teams: [{ name: 'team', size: { min: 1, max: 2 } }], matchSize: undefined, fillForMs: 0 }
    const { follower, join, pass, answer, status, close } = await pair({ queues: [queue] })
    await join('ann')
    await pass(3000)
    const { matchId = '' } = (await answer(follower.getTicket('ann'))) as Ticket
    const backfill = await answer(follower.createBackfill({ matchId }))
    expect(await answer(follower.getBackfill(backfill.id))).toEqual(backfill)
    await join('bob')
    await pass(500)
    expect(await status('bob')).toBe('HOST_ASSIGNED')
    expect(await answer(follower.getBackfill(backfill.id))).toMatchObject({ status: 'FILLED', tickets: ['bob'] })
    expect(await answer(follower.getBackfill('nope'))).toBeUndefined()
    await close()
  })

  test('takes webhooks and registrations of servers', async () => {
    const queue = { ...duel, deploy: { ...duel.deploy, probe: { kind: 'registration' as const } } }
    const { follower, join, pass, answer, close } = await pair({
      queues: [queue],
      webhookUrl: 'https://muster.example/hooks',
    })
    await join('ann', 'bob')
    await pass(2000)
    expect(await answer(follower.isServerSecret('guess'))).toBe(false)
    expect(await answer(follower.serverReady('nope', 'guess'))).toBe(false)
    const hook = (path: string, method = 'POST') =>
      answer(
        follower.webhook(
          new Request(`https://muster.example${path}`, { method, ...(method === 'POST' ? { body: '{}' } : {}) }),
        ),
      )
    expect((await hook('/hooks/nope/guess')).status).toBe(404)
    expect((await hook(`/hooks/${'x'.repeat(2000)}`)).status).toBe(404)
    expect((await hook('/hooks/nope/guess', 'GET')).status).toBe(405)
    await close()
  })
})

describe('without a leader', () => {
  test('tickets are created, read and cancelled, and questions fail in time', async () => {
    const { clock, process, player } = createWorld()
    const follower = process({ canLead: false, askTimeoutMs: 3000 })
    follower.start()
    await clock.advance(10)
    await follower.createTicket({ id: 'ann', queue: 'duel', players: [player('ann')] })
    expect(await follower.getTicket('ann')).toMatchObject({ status: 'SEARCHING' })
    const explained = follower.explain('ann').catch((error: unknown) => error)
    const error = await clock.until(explained, 100)
    expect(error).toBeInstanceOf(NoLeader)
    expect(error).toMatchObject({ retryAfterMs: 1000 })
    expect(await follower.cancelTicket('ann')).toMatchObject({ status: 'CANCELLED' })
    await clock.until(follower.close(), 10)
  })

  test('a question is answered once there is one', async () => {
    const { clock, process, player, pass } = createWorld()
    const follower = process({ canLead: false })
    follower.start()
    await clock.advance(10)
    await follower.createTicket({ id: 'ann', queue: 'duel', players: [player('ann')] })
    const explained = follower.explain('ann')
    await pass(2000)
    const leader = process()
    leader.start()
    expect(await clock.until(explained, 10)).toMatchObject({ ticketId: 'ann' })
    await clock.until(Promise.all([follower.close(), leader.close()]), 10)
  })

  test('no more questions are open at once than a bound', async () => {
    const { clock, process } = createWorld()
    const follower = process({ canLead: false, askTimeoutMs: 1000 })
    follower.start()
    const asked = Array.from({ length: 1001 }, () => follower.inspect().catch((error: Error) => error.name))
    const names = await clock.until(Promise.all(asked), 100)
    expect(names.filter((name) => name === 'PartitionFull')).toHaveLength(1)
    await clock.until(follower.close(), 10)
  })
})
