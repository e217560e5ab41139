import { createManualClock } from '@muster/core/clock'
import { describe, expect, test } from 'vitest'
import { NothingToAccept } from '../errors.js'
import { deploy, duel, setUp } from '../matchmaker.fixture.js'
import type { QueueDefinition } from '../queues/queue.js'

const asking: QueueDefinition = { ...duel, acceptance: { withinMs: 10_000 } }
const replacing: QueueDefinition = { ...duel, matchSize: 3, acceptance: { withinMs: 10_000, replace: true } }

describe('the acceptance of a match', () => {
  test('a server is deployed as soon as all players of the match have accepted', async () => {
    const { service, matchmaker, seen, names, join, run, status, clock } = setUp({ queues: [asking] })
    join('ann')
    join('ben')
    await run(500)
    const until = clock.now() - 500 + 10_000
    expect(matchmaker.getTicket('ann')).toMatchObject({ status: 'MATCH_FOUND', acceptance: { until, accepted: [] } })
    matchmaker.acceptMatch('ann')
    matchmaker.acceptMatch('ann')
    expect(matchmaker.getTicket('ann')?.acceptance).toEqual({ until, accepted: ['ann'] })
    await run(500)
    expect(service.calls.create).toEqual([])
    expect(matchmaker.acceptMatch('ben')).toMatchObject({ status: 'MATCH_FOUND', acceptance: undefined })
    await run(6000)
    expect([status('ann'), status('ben')]).toEqual(['HOST_ASSIGNED', 'HOST_ASSIGNED'])
    expect(seen.matchAccepted).toMatchObject([{ queue: 'duel', playerIds: ['ann'] }, { playerIds: ['ben'] }])
    expect(names.filter((name) => name !== 'tickCompleted')).toEqual([
      'ticketCreated',
      'ticketCreated',
      'matchFound',
      'matchAccepted',
      'matchAccepted',
      'deploymentCreated',
      'serverAssigned',
    ])
  })

  test('players have as much more time to accept a match as this process was paused', async () => {
    const steady = createManualClock()
    let pausedMs = 0
    const clock = { ...steady, now: () => steady.now() + pausedMs }
    const { matchmaker, seen, join, status } = setUp({ queues: [asking], clock })
    matchmaker.start()
    join('ann')
    join('ben')
    await steady.advance(1000)
    const { until = 0 } = matchmaker.getTicket('ann')?.acceptance ?? {}
    pausedMs = 12_000
    await steady.advance(250)
    expect(matchmaker.getTicket('ann')).toMatchObject({ status: 'MATCH_FOUND', acceptance: { until: until + 12_000 } })
    matchmaker.acceptMatch('ann')
    await steady.advance(9500)
    expect([status('ann'), status('ben'), seen.cooldownBegan?.length]).toEqual(['SEARCHING', 'CANCELLED', 1])
    await matchmaker.stop()
  })

  test('a single ticket change both reports the match and requests its acceptance', async () => {
    const { matchmaker, clock, join } = setUp({ queues: [asking] })
    join('ann')
    join('ben')
    const told = matchmaker.waitForChange('ann', { version: 1 })
    await matchmaker.tick()
    const acceptance = { until: clock.now() + 10_000, accepted: [] }
    expect(await told).toMatchObject({ status: 'MATCH_FOUND', version: 2, acceptance })
  })

  test('a party accepts a match one player at a time, or by one call for all its players', async () => {
    const { service, matchmaker, join, run } = setUp({ queues: [{ ...asking, matchSize: 4 }] })
    join('ann', 'ben')
    join('cas', 'dee')
    await run(250)
    matchmaker.acceptMatch('ann-ben', 'ben')
    expect(() => matchmaker.acceptMatch('ann-ben', 'eve')).toThrow(
      'ticket: playerId: must be a player of ticket ann-ben, got "eve"',
    )
    matchmaker.acceptMatch('cas-dee')
    await run(500)
    expect(service.calls.create).toEqual([])
    matchmaker.acceptMatch('ann-ben', 'ann')
    await run(500)
    expect(service.calls.create).toHaveLength(1)
  })

  test('a declined match cancels the ticket that declined, and its other tickets keep their wait time', async () => {
    const { matchmaker, seen, join, run, status } = setUp({ queues: [asking] })
    const { createdAt } = join('ann')
    join('ben')
    await run(250)
    matchmaker.acceptMatch('ann')
    expect(matchmaker.declineMatch('ben')).toMatchObject({ status: 'CANCELLED', cancelReason: 'declined' })
    expect(matchmaker.getTicket('ann')).toMatchObject({
      status: 'SEARCHING',
      createdAt,
      attempts: 0,
      acceptance: undefined,
    })
    expect(seen.ticketRequeued).toMatchObject([{ reason: 'not-accepted', ticket: { id: 'ann' } }])
    join('cas')
    await run(250)
    expect([status('ann'), status('cas')]).toEqual(['MATCH_FOUND', 'MATCH_FOUND'])
  })

  test('a declined match cancels no other ticket, however many of its attempts have failed before', async () => {
    const queues = [{ ...asking, maxAttempts: 2 }]
    const { matchmaker, clock, join, run, status } = setUp({ queues })
    const [exportedAt, createdAt] = [clock.now(), clock.now()]
    const players = [{ id: 'ann', ip: '198.51.100.7' }]
    const tickets = [{ id: 'ann', queues: ['duel'], players, priority: 0, createdAt, attempts: 2 }]
    matchmaker.importTickets({ format: 'muster-tickets-1', exportedAt, tickets })
    join('ben')
    await run(250)
    matchmaker.declineMatch('ben')
    expect(status('ann')).toBe('SEARCHING')
  })

  test('a match not accepted in time cancels only the tickets that did not accept', async () => {
    const { matchmaker, service, seen, join, run, status } = setUp({ queues: [{ ...asking, matchSize: 3 }] })
    for (const id of ['ann', 'ben', 'cas']) join(id)
    await run(250)
    matchmaker.acceptMatch('ann')
    await run(10_250)
    expect([status('ann'), status('ben'), status('cas')]).toEqual(['SEARCHING', 'CANCELLED', 'CANCELLED'])
    expect(seen.cancelled?.map(({ ticket, reason }) => [ticket.id, reason])).toEqual([
      ['ben', 'not-accepted'],
      ['cas', 'not-accepted'],
    ])
    expect(seen.ticketRequeued?.map(({ ticket }) => ticket.id)).toEqual(['ann'])
    expect(service.calls.create).toEqual([])
  })

  test('a ticket cancelled during the acceptance ends the match, and the other tickets search again', async () => {
    const { matchmaker, seen, join, run } = setUp({ queues: [asking] })
    join('ann')
    join('ben')
    await run(250)
    matchmaker.cancelTicket('ann')
    expect(seen.ticketRequeued).toMatchObject([{ reason: 'dissolved', ticket: { id: 'ben' } }])
  })

  test('stopMatch during the acceptance ends the match, and all tickets search again', async () => {
    const { matchmaker, seen, join, run } = setUp({ queues: [asking] })
    join('ann', 'ben')
    await run(250)
    await matchmaker.stopMatch(matchmaker.getTicket('ann-ben')?.matchId ?? '')
    expect(seen.ticketRequeued).toMatchObject([{ reason: 'stopped' }])
  })

  test('accepting or declining is refused when no match awaits it', async () => {
    const { matchmaker, join, run } = setUp({ queues: [asking] })
    join('ann')
    expect(() => matchmaker.acceptMatch('ann')).toThrow(NothingToAccept)
    join('ben')
    await run(250)
    matchmaker.acceptMatch('ann')
    matchmaker.acceptMatch('ben')
    expect(() => matchmaker.declineMatch('ann')).toThrow(NothingToAccept)
  })

  test('the last player to accept may repeat a request whose answer was lost', async () => {
    const { matchmaker, seen, join, run } = setUp({ queues: [asking] })
    for (const id of ['ann', 'ben']) join(id)
    await run(250)
    for (const id of ['ann', 'ben']) matchmaker.acceptMatch(id)
    expect(matchmaker.acceptMatch('ben')).toMatchObject({ status: 'MATCH_FOUND', acceptance: undefined })
    await run(6000)
    expect(matchmaker.acceptMatch('ben', 'ben')).toMatchObject({ status: 'HOST_ASSIGNED' })
    expect(seen.matchAccepted).toHaveLength(2)
  })

  test('a repeated answer to an earlier match does not answer the next match of the ticket', async () => {
    const { matchmaker, join, run } = setUp({ queues: [asking] })
    for (const id of ['ann', 'ben']) join(id)
    await run(250)
    const first = matchmaker.acceptMatch('ann').matchId
    matchmaker.declineMatch('ben')
    join('cas')
    await run(250)
    const { matchId } = matchmaker.getTicket('ann') ?? {}
    expect(matchId).not.toBe(first)
    for (const answer of ['acceptMatch', 'declineMatch'] as const)
      expect(() => matchmaker[answer]('ann', 'ann', first)).toThrow(NothingToAccept)
    expect(matchmaker.getTicket('ann')).toMatchObject({ matchId, acceptance: { accepted: [] } })
    expect(matchmaker.acceptMatch('ann', 'ann', matchId)).toMatchObject({ acceptance: { accepted: ['ann'] } })
  })

  test('a match awaiting acceptance reserves a server of the server limit, until it is declined', async () => {
    const { service, matchmaker, join, run, status } = setUp({ queues: [asking], maxServers: 1 })
    join('ann', 'ben')
    await run(250)
    join('cas', 'dee')
    await run(250)
    expect(matchmaker.getTicket('cas-dee')).toMatchObject({ status: 'SEARCHING', waitingFor: 'servers' })
    matchmaker.declineMatch('ann-ben')
    await run(250)
    expect(status('cas-dee')).toBe('MATCH_FOUND')
    expect(service.calls.create).toEqual([])
  })

  test('accepted players expire on time if a player-started server takes the last allowed server', async () => {
    const places = [{ name: 'Oslo', latitude: 59.9, longitude: 10.7 }]
    const { matchmaker, seen, join, run, status } = setUp({
      queues: [{ ...asking, expireAfterMs: 20_000 }],
      pools: [{ name: 'arena', deploy, places, custom: {} }],
      maxServers: 1,
    })
    join('ann')
    await run(10_000)
    join('ben')
    await run(500)
    await matchmaker.startServer({ pool: 'arena', playerIds: ['eve'], attributes: {} })
    matchmaker.acceptMatch('ann')
    matchmaker.acceptMatch('ben')
    await run(9000)
    expect([status('ann'), status('ben')]).toEqual(['MATCH_FOUND', 'MATCH_FOUND'])
    await run(2000)
    expect(matchmaker.getTicket('ann')).toMatchObject({ status: 'CANCELLED', cancelReason: 'expired' })
    expect([status('ben'), seen.cooldownBegan]).toEqual(['SEARCHING', undefined])
  })

  test('with maxServers 2, a match awaiting acceptance and a match of another queue get a server each', async () => {
    const { service, matchmaker, join, run, status } = setUp({
      queues: [asking, { ...duel, name: 'other' }],
      maxServers: 2,
    })
    join('ann', 'ben')
    await run(250)
    matchmaker.createTicket({
      id: 'o',
      queue: 'other',
      players: [
        { id: 'x', ip: '198.51.100.7' },
        { id: 'y', ip: '198.51.100.7' },
      ],
    })
    await run(250)
    expect(service.calls.create).toHaveLength(1)
    matchmaker.acceptMatch('ann-ben')
    await run(6500)
    expect([status('o'), status('ann-ben')]).toEqual(['HOST_ASSIGNED', 'HOST_ASSIGNED'])
  })
})

describe('the acceptance of a match with replacement', () => {
  test('with replacement only players who declined are replaced, and only the new players must accept', async () => {
    const { matchmaker, service, seen, join, run, status } = setUp({ queues: [replacing] })
    for (const id of ['ann', 'ben', 'cas']) join(id)
    await run(250)
    matchmaker.acceptMatch('ann')
    matchmaker.declineMatch('ben')
    expect(matchmaker.getTicket('ann')).toMatchObject({ status: 'MATCH_FOUND', acceptance: { accepted: ['ann'] } })
    join('dee')
    await run(250)
    expect(matchmaker.getTicket('dee')).toMatchObject({ status: 'MATCH_FOUND', acceptance: { accepted: [] } })
    expect(seen.backfillJoined).toMatchObject([{ tickets: [{ id: 'dee' }] }])
    matchmaker.acceptMatch('cas')
    await run(500)
    expect(service.calls.create).toEqual([])
    matchmaker.acceptMatch('dee')
    await run(6000)
    expect(['ann', 'ben', 'cas', 'dee'].map(status)).toEqual([
      'HOST_ASSIGNED',
      'CANCELLED',
      'HOST_ASSIGNED',
      'HOST_ASSIGNED',
    ])
    expect(seen.matchFound).toHaveLength(1)
    expect(service.calls.create).toHaveLength(1)
  })

  test('a replacement is chosen by the limits from when the match was found, not the strictest limits', async () => {
    const max = [
      { afterMs: 0, value: 50 },
      { afterMs: 20_000, value: 500 },
    ]
    const { matchmaker, run } = setUp({
      queues: [{ ...replacing, matchSize: 2, rules: [{ kind: 'difference', attribute: 'skill', max }] }],
    })
    for (const [id, skill] of [
      ['ann', 1000],
      ['ben', 700],
      ['cas', 1400],
    ] as const)
      matchmaker.createTicket({ id, queue: 'duel', players: [{ id, ip: '198.51.100.7', attributes: { skill } }] })
    await run(20_500)
    matchmaker.acceptMatch('ann')
    matchmaker.declineMatch('ben')
    await run(250)
    expect(matchmaker.getTicket('cas')).toMatchObject({
      status: 'MATCH_FOUND',
      matchId: matchmaker.getTicket('ann')?.matchId,
    })
  })

  test('a match with replacement is dissolved if no replacement is found in time', async () => {
    const { matchmaker, seen, join, run } = setUp({ queues: [replacing] })
    for (const id of ['ann', 'ben', 'cas']) join(id)
    await run(250)
    matchmaker.acceptMatch('ann')
    matchmaker.acceptMatch('ben')
    matchmaker.declineMatch('cas')
    await run(10_500)
    expect(seen.ticketRequeued?.map(({ ticket, reason }) => [ticket.id, reason])).toEqual([
      ['ann', 'not-accepted'],
      ['ben', 'not-accepted'],
    ])
    expect(seen.backfillChanged?.map(({ backfill }) => backfill.status)).toEqual(['CANCELLED'])
    expect(matchmaker.inspect().queues[0]).toMatchObject({ matchesFound: 0, backfills: 0 })
  })

  test('a ticket expires at its time even if replacement after replacement declines', async () => {
    const queues = [{ ...replacing, matchSize: 2, expireAfterMs: 20_000 }]
    const { matchmaker, clock, seen, join, run, status } = setUp({ queues })
    join('ann')
    join('p0')
    await run(250)
    matchmaker.acceptMatch('ann')
    for (let player = 1; player <= 3; player++) {
      await clock.advance(8000)
      matchmaker.declineMatch(`p${player - 1}`)
      if (player < 3) join(`p${player}`)
      await run(250)
    }
    expect(status('ann')).toBe('CANCELLED')
    expect(seen.expired).toMatchObject([{ ticket: { id: 'ann' } }])
  })

  test('a match with replacement is removed with its backfills once all players have declined', async () => {
    const { matchmaker, seen, join, run } = setUp({ queues: [replacing] })
    for (const id of ['ann', 'ben', 'cas']) join(id)
    await run(250)
    for (const id of ['ann', 'ben', 'cas']) matchmaker.declineMatch(id)
    await run(500)
    expect(seen.ticketRequeued).toBeUndefined()
    expect(matchmaker.inspect().queues[0]).toMatchObject({ matchesFound: 0, backfills: 0 })
  })

  test.each([
    ['a reload of the queues', 'reload'],
    ['a backend', 'backend'],
  ])(
    'if %s cancels the backfill for replacements, the match gets no server and is dissolved after the replacement time',
    async (_, by) => {
      const { service, matchmaker, join, run, seen, status } = setUp({ queues: [replacing] })
      for (const player of ['ann', 'ben', 'cas']) join(player)
      await run(250)
      matchmaker.declineMatch('ben')
      const teams = [{ name: 'red', size: 3 }]
      if (by === 'reload') matchmaker.reconfigure([{ ...replacing, matchSize: undefined, teams }])
      else matchmaker.cancelBackfill(seen.backfillCreated?.[0]?.backfill.id ?? '')
      matchmaker.acceptMatch('ann')
      matchmaker.acceptMatch('cas')
      await run(9000)
      expect([status('ann'), service.calls.create]).toEqual(['MATCH_FOUND', []])
      await run(1500)
      expect([status('ann'), status('cas'), service.calls.create]).toEqual(['SEARCHING', 'SEARCHING', []])
      expect(matchmaker.inspect().queues[0]?.matchesFound).toBe(0)
    },
  )
})
