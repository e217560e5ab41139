import { createManualClock } from '@muster/core/clock'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { duel, setUp } from '../matchmaker.fixture.js'
import type { QueueDefinition } from '../queues/queue.js'

/** A queue without matches, so that only presence decides about tickets. */
const alone: QueueDefinition = { ...duel, matchSize: 500, presence: { withinMs: 20_000 } }
const setUpAlone = (more: Partial<QueueDefinition> = {}) => setUp({ queues: [{ ...alone, ...more }] })
const at = { ip: '198.51.100.7' }

describe('a ticket in a queue with presence', () => {
  test('a ticket is cancelled as absent if its client was away for the presence time since its creation', async () => {
    const { join, run, status, seen, matchmaker } = setUpAlone()
    join('ann')
    await run(20_000)
    expect(status('ann')).toBe('SEARCHING')
    await run(250)
    expect(matchmaker.getTicket('ann')).toMatchObject({ status: 'CANCELLED', cancelReason: 'absent' })
    expect(seen.cancelled).toMatchObject([{ reason: 'absent', ticket: { id: 'ann' } }])
    expect(join('ben', 'ann').status).toBe('SEARCHING')
  })

  test('a ticket in a queue with presence stays queued while its client is seen', async () => {
    const { join, run, status, matchmaker } = setUpAlone()
    join('ann')
    const { version } = matchmaker.getTicket('ann') ?? {}
    for (let times = 0; times < 10; times += 1) {
      await run(19_000)
      matchmaker.notePresence([{ ticketId: 'ann' }])
    }
    expect(matchmaker.getTicket('ann')?.version).toBe(version)
    await run(20_250)
    expect(status('ann')).toBe('CANCELLED')
  })

  test('a client has the whole presence time again after a pause of this process', async () => {
    const steady = createManualClock()
    let pausedMs = 0
    const clock = { ...steady, now: () => steady.now() + pausedMs }
    const { join, status, matchmaker } = setUp({ queues: [alone], clock })
    matchmaker.start()
    join('ann')
    await steady.advance(15_000)
    pausedMs = 60_000
    await steady.advance(19_500)
    expect(status('ann')).toBe('SEARCHING')
    await steady.advance(1000)
    expect(status('ann')).toBe('CANCELLED')
    await matchmaker.stop()
  })

  test('a ticket in a queue with presence stays queued only while each player of its party is present', async () => {
    const { join, run, status, matchmaker } = setUpAlone()
    join('ann', 'ben')
    join('cas', 'dee')
    await run(15_000)
    matchmaker.notePresence(['ann', 'ben'].map((playerId) => ({ ticketId: 'ann-ben', playerId })))
    matchmaker.notePresence([{ ticketId: 'cas-dee', playerId: 'cas' }])
    await run(6000)
    expect([status('ann-ben'), status('cas-dee')]).toEqual(['SEARCHING', 'CANCELLED'])
    matchmaker.notePresence([{ ticketId: 'ann-ben' }])
    await run(19_000)
    expect(status('ann-ben')).toBe('SEARCHING')
  })

  test('presence reports for other, unknown or ended tickets do not keep a ticket', async () => {
    const { join, run, status, matchmaker } = setUpAlone()
    join('ann')
    join('eve')
    await run(15_000)
    matchmaker.notePresence([
      { ticketId: 'ann', playerId: 'eve' },
      { ticketId: 'nosuch', playerId: 'ann' },
      { ticketId: 'nosuch' },
    ])
    await run(6000)
    expect([status('ann'), status('eve')]).toEqual(['CANCELLED', 'CANCELLED'])
    matchmaker.notePresence([{ ticketId: 'ann' }])
    expect(status('ann')).toBe('CANCELLED')
  })

  test('an absent client’s ticket is cancelled only once its found match fails', async () => {
    const { join, run, status, matchmaker, clock } = setUp({
      queues: [{ ...duel, presence: { withinMs: 10_000 } }],
      service: { fate: () => ({ readyMs: 30_000, endMs: 25_000 }) },
    })
    join('ann')
    join('ben')
    await run(20_000)
    expect([status('ann'), status('ben')]).toEqual(['MATCH_FOUND', 'MATCH_FOUND'])
    matchmaker.notePresence([{ ticketId: 'ann' }])
    expect(matchmaker.notePresence([{ ticketId: 'ann', playerId: 'ben' }])).toBeUndefined()
    const { matchId = '' } = matchmaker.getTicket('ann') ?? {}
    await clock.until(matchmaker.stopMatch(matchId))
    await run(500)
    expect([status('ann'), matchmaker.getTicket('ben')?.cancelReason]).toEqual(['SEARCHING', 'absent'])
  })

  test('a ticket in several queues is cancelled as a whole by the strictest presence time', async () => {
    const slow = { ...alone, name: 'slow', presence: { withinMs: 60_000 } }
    const calm = { ...alone, name: 'calm', presence: undefined }
    const { matchmaker, run, status } = setUp({ queues: [alone, slow, calm] })
    matchmaker.createTicket({ id: 'ann', queues: ['duel', 'slow', 'calm'], players: [{ id: 'ann', ...at }] })
    matchmaker.createTicket({ id: 'ben', queues: ['slow', 'calm'], players: [{ id: 'ben', ...at }] })
    matchmaker.createTicket({ id: 'cas', queues: ['calm'], players: [{ id: 'cas', ...at }] })
    await run(21_000)
    expect(['ann', 'ben', 'cas'].map(status)).toEqual(['CANCELLED', 'SEARCHING', 'SEARCHING'])
    await run(40_000)
    expect(['ben', 'cas'].map(status)).toEqual(['CANCELLED', 'SEARCHING'])
    expect(['duel', 'slow', 'calm', 'nosuch'].map(matchmaker.presenceWithinMs)).toEqual([
      20_000,
      60_000,
      undefined,
      undefined,
    ])
  })

  test('a ticket has the whole presence time again when its queue gets `presence`', async () => {
    const { matchmaker, join, run, status } = setUpAlone({ presence: undefined })
    join('ann')
    await run(60_000)
    matchmaker.reconfigure([alone])
    await run(19_000)
    expect(status('ann')).toBe('SEARCHING')
    matchmaker.reconfigure([{ ...alone, presence: undefined }])
    await run(60_000)
    matchmaker.reconfigure([alone])
    await run(20_000)
    expect(status('ann')).toBe('SEARCHING')
    await run(500)
    expect(matchmaker.getTicket('ann')?.cancelReason).toBe('absent')
  })

  test('the presence time of an imported ticket starts anew, however long the ticket has waited', async () => {
    const { matchmaker, join, run } = setUpAlone({ expireAfterMs: 3_600_000 })
    join('ann')
    for (let minutes = 0; minutes < 5; minutes += 1) {
      await run(15_000)
      matchmaker.notePresence([{ ticketId: 'ann' }])
    }
    const next = setUpAlone({ expireAfterMs: 3_600_000 })
    await next.clock.advance(90_000)
    next.matchmaker.importTickets(matchmaker.exportTickets())
    await next.run(20_000)
    expect(next.status('ann')).toBe('SEARCHING')
    await next.run(500)
    expect(next.status('ann')).toBe('CANCELLED')
  })
})

test('property: a ticket is absent exactly when one of its players was away for the presence time', async () => {
  const NAMES = ['ann', 'ben', 'cas'] as const
  const step = fc.record({
    ms: fc.integer({ min: 0, max: 12_000 }),
    seen: fc.option(fc.constantFrom(...NAMES, undefined), { nil: 'nobody' as const }),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
      const { join, matchmaker, clock } = setUpAlone({ presence: { withinMs: 10_000 } })
      join(...NAMES)
      const lastSeen = new Map<string, number>(NAMES.map((name) => [name, clock.now()]))
      let isAbsent = false
      for (const { ms, seen } of steps) {
        await clock.advance(ms)
        await matchmaker.tick()
        isAbsent ||= Math.min(...lastSeen.values()) + 10_000 <= clock.now()
        expect(matchmaker.getTicket(NAMES.join('-'))?.status).toBe(isAbsent ? 'CANCELLED' : 'SEARCHING')
        if (isAbsent) return
        if (seen === 'nobody') continue
        matchmaker.notePresence([{ ticketId: NAMES.join('-'), playerId: seen }])
        for (const name of NAMES) if (seen === undefined || seen === name) lastSeen.set(name, clock.now())
      }
    }),
  )
})

test('of 4,000 tickets with presence exactly those whose clients are away are cancelled', async () => {
  const { matchmaker, clock, seen } = setUpAlone({ rules: [{ kind: 'equal', attribute: 'room' }] })
  const tickets = matchmaker.createTickets(
    Array.from({ length: 4000 }, (_, index) => ({
      id: `t${index}`,
      queue: 'duel',
      players: [{ id: `p${index}`, coordinates: { latitude: 0, longitude: 0 }, attributes: { room: index } }],
    })),
  )
  expect(tickets.filter(({ error }) => error !== undefined)).toEqual([])
  const present = Array.from({ length: 2000 }, (_, index) => ({ ticketId: `t${index * 2}` }))
  for (let seconds = 0; seconds < 60; seconds += 10) {
    matchmaker.notePresence(present)
    await clock.advance(10_000)
    matchmaker.notePresence(present)
    await matchmaker.tick()
  }
  expect(seen.cancelled).toHaveLength(2000)
  const isRight = (id: string, reason: string) => reason === 'absent' && Number(id.slice(1)) % 2 === 1
  expect(seen.cancelled?.filter(({ ticket, reason }) => !isRight(ticket.id, reason))).toEqual([])
  expect(matchmaker.longestWaiting(0).total).toBe(2000)
})
