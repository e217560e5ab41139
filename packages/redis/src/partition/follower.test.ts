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
import { createPair, createWorld, duel } from './world.fixture.js'

describe('a follower process', () => {
  test('a follower creates tickets, with the same refusals as a matchmaker', async () => {
    const { second: follower, player, join, answer, close } = await createPair()
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

  test('a ticket that is too long for the partition is refused without the others of its batch', async () => {
    const { second: follower, player, answer, close } = await createPair({ queues: [{ ...duel, matchSize: 10 }] })
    const avoid = Array.from({ length: 256 }, (_, one) => `${one}`.padEnd(128, 'x'))
    const party = Array.from({ length: 10 }, (_, one) => ({ ...player(`bob${one}`), avoid }))
    const results = await answer(
      follower.createTickets([
        { id: 'ann', queue: 'duel', players: [player('ann')] },
        { id: 'bob', queue: 'duel', players: party },
      ]),
    )
    expect(results).toMatchObject([{ ticket: { id: 'ann' } }, { error: expect.any(InvalidInput) }])
    await close()
  })

  test('a follower finds a player’s ticket and match, from creating the ticket to the end of the match', async () => {
    const { first: leader, second: follower, join, answer, pass, service, close } = await createPair()
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
    expect(service.running()).toEqual([])
    expect(await found('bob')).toEqual([])
    await expect(answer(follower.stopMatch('nope'))).rejects.toThrow(UnknownMatch)
    await join('cas')
    await answer(follower.cancelTicket('cas'))
    expect(await found('cas')).toEqual([])
    await close()
  })

  test('a change of a ticket notifies waiters in every process', async () => {
    const { first: leader, second: follower, join, pass, close } = await createPair()
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
    // An ended ticket does not change any more, so the call returns at once.
    const { version = 0 } = (await follower.getTicket('ann')) ?? {}
    expect(await follower.waitForChange('ann', { version })).toMatchObject({ status: 'HOST_ASSIGNED', version })
    await close()
  })

  test('a follower ends waits that are aborted, and all waits when it is closed', async () => {
    const { first: leader, second: follower, join, answer } = await createPair()
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

  test('a follower cancels a ticket until its players have the server address', async () => {
    const { second: follower, join, pass, answer, status, service, close } = await createPair()
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

  test('a follower refuses tickets of players in a match until they have left or the match is over', async () => {
    const { second: follower, join, pass, answer, player, status, service, close } = await createPair()
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

  test('players accept a match through a follower, which forwards their answers', async () => {
    const queue = { ...duel, acceptance: { withinMs: 10_000 } }
    const { second: follower, join, pass, answer, status, close } = await createPair({ queues: [queue] })
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

  test('a follower explains, inspects and lists as the leader does', async () => {
    const { second: follower, first: leader, join, pass, answer, close } = await createPair()
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

  test('a follower accepts webhooks and registrations of servers', async () => {
    const queue = { ...duel, deploy: { ...duel.deploy, probe: { kind: 'registration' as const } } }
    const {
      second: follower,
      join,
      pass,
      answer,
      close,
    } = await createPair({
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

describe('a partition without a leader', () => {
  test('without a leader tickets are created, read and cancelled, and RPC requests end in time', async () => {
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

  test('an RPC request made without a leader is answered once a process leads', async () => {
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

  test('without a leader at most 1,000 RPC requests are open, and a further one is refused', async () => {
    const { clock, process } = createWorld()
    const follower = process({ canLead: false, askTimeoutMs: 1000 })
    follower.start()
    const asked = Array.from({ length: 1001 }, () => follower.inspect().catch((error: Error) => error.name))
    const names = await clock.until(Promise.all(asked), 100)
    expect(names.filter((name) => name === 'PartitionFull')).toHaveLength(1)
    await clock.until(follower.close(), 10)
  })
})
