import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { InvalidQueue, MatchmakerClosed } from '../errors.js'
import { duel, setUp } from '../matchmaker.fixture.js'
import type { TicketSnapshot } from './matchmaker.js'

const throughJson = (snapshot: TicketSnapshot) => JSON.parse(JSON.stringify(snapshot)) as TicketSnapshot
const at = { latitude: 59.9, longitude: 10.7 }

describe('tickets handed over to another matchmaker', () => {
  test('tickets handed over to another matchmaker continue to wait there with all their data', async () => {
    const queues = [
      { ...duel, rules: [{ kind: 'difference', attribute: 'skill', max: 10 }] },
      { ...duel, name: 'other', matchSize: 4 },
    ] as const
    const before = setUp({ queues })
    before.matchmaker.createTicket({
      id: 'a',
      queues: ['duel', 'other'],
      priority: 3,
      players: [
        {
          id: 'ann',
          coordinates: at,
          attributes: { skill: 7 },
          roles: ['tank'],
          latencies: { oslo: 12 },
          avoid: ['eve'],
        },
      ],
    })
    await before.run(2000)
    const snapshot = throughJson(before.matchmaker.exportTickets({ take: true }))
    expect(before.matchmaker.getTicket('a')).toMatchObject({ status: 'CANCELLED', cancelReason: 'handed-over' })

    const after = setUp({ queues })
    await after.clock.advance(5000)
    const { tickets, refused } = after.matchmaker.importTickets(snapshot)
    expect(refused).toEqual([])
    expect(tickets).toMatchObject([
      {
        id: 'a',
        queues: ['duel', 'other'],
        priority: 3,
        status: 'SEARCHING',
        createdAt: snapshot.tickets[0]?.createdAt,
      },
    ])
    expect(throughJson(after.matchmaker.exportTickets()).tickets).toEqual(snapshot.tickets)
    expect(after.matchmaker.explain('a').waitedMs).toBe(5000)
  })

  test('tickets copied to another matchmaker stay queued, and tickets sent twice are imported once', async () => {
    const { matchmaker, join, names } = setUp()
    join('ann')
    const snapshot = matchmaker.exportTickets()
    expect(matchmaker.importTickets(snapshot)).toMatchObject({
      tickets: [{ id: 'ann', status: 'SEARCHING' }],
      refused: [],
    })
    expect(names).toEqual(['ticketCreated'])
  })

  test('tickets that a matchmaker handed over can be imported back into the same matchmaker', async () => {
    const { matchmaker, clock, seen, join, run, status } = setUp({ endedTicketTtlMs: 4000 })
    const { createdAt } = join('ann')
    await clock.advance(3000)
    const snapshot = throughJson(matchmaker.exportTickets({ take: true }))
    expect(status('ann')).toBe('CANCELLED')
    const { tickets, refused } = matchmaker.importTickets(snapshot)
    expect(tickets).toMatchObject([{ id: 'ann', status: 'SEARCHING', createdAt, version: 3 }])
    expect(refused).toEqual([])
    expect(seen.ticketCreated).toHaveLength(2)
    // The ended ticket is removed, and the new one stays.
    await run(5000)
    expect(status('ann')).toBe('SEARCHING')
    matchmaker.cancelTicket('ann')
    expect(matchmaker.importTickets(snapshot).tickets).toMatchObject([{ id: 'ann', status: 'CANCELLED' }])
  })

  test('an imported ticket that has waited too long expires after the event of its creation', () => {
    const { matchmaker, clock, names, seen } = setUp({ queues: [{ ...duel, expireAfterMs: 1000 }] })
    const [exportedAt, createdAt] = [clock.now(), clock.now() - 1000]
    const ticket = { id: 'a', queues: ['duel'], players: [{ id: 'ann', coordinates: at }], priority: 0 }
    const tickets = [{ ...ticket, createdAt, attempts: 0 }]
    const imported = matchmaker.importTickets({ format: 'muster-tickets-1', exportedAt, tickets })
    expect(imported.tickets).toMatchObject([{ id: 'a', status: 'CANCELLED', cancelReason: 'expired' }])
    expect(names).toEqual(['ticketCreated', 'expired'])
    expect(seen.ticketCreated).toMatchObject([{ ticket: { id: 'a', status: 'SEARCHING' } }])
  })

  test('imported tickets are accepted or refused one by one, each refusal with its reason', () => {
    const before = setUp()
    for (const id of ['ann', 'ben', 'cas', 'dee']) before.join(id)
    const snapshot = throughJson(before.matchmaker.exportTickets())
    const [ann, ben, cas, dee] = snapshot.tickets
    const after = setUp()
    after.matchmaker.createTicket({ id: 'x', queue: 'duel', players: [{ id: 'cas', coordinates: at }] })
    const result = after.matchmaker.importTickets({
      ...snapshot,
      tickets: [{ ...ann, queues: ['gone'] }, { ...ben, createdAt: 'yesterday' }, cas, dee] as never,
    })
    expect(result.tickets.map(({ id }) => id)).toEqual(['dee'])
    expect(result.refused.map(({ ticket, error }) => [ticket.id, error.message])).toEqual([
      ['ann', 'There is no queue "gone".'],
      ['ben', expect.stringContaining('ticket: createdAt: ')],
      ['cas', 'Player "cas" is already queued in ticket x. Cancel that ticket first.'],
    ])
  })

  test('an import of tickets is refused if the snapshot is invalid', () => {
    const { matchmaker } = setUp()
    expect(() => matchmaker.importTickets({ format: 'else' } as never)).toThrow('snapshot: format: ')
  })

  test('an import of tickets is refused by a closed matchmaker', async () => {
    const { matchmaker } = setUp()
    const snapshot = matchmaker.exportTickets()
    await matchmaker.close()
    expect(() => matchmaker.importTickets(snapshot)).toThrow(MatchmakerClosed)
  })

  test('property: tickets handed over to another matchmaker are neither lost nor duplicated', async () => {
    const tickets = fc.array(
      fc.record({ players: fc.integer({ min: 1, max: 2 }), both: fc.boolean(), after: fc.nat(3) }),
      {
        maxLength: 12,
      },
    )
    await fc.assert(
      fc.asyncProperty(tickets, async (inputs) => {
        const queues = [duel, { ...duel, name: 'other', matchSize: 3 }]
        const [before, after] = [setUp({ queues }), setUp({ queues })]
        for (const [index, { players, both, after: ms }] of inputs.entries()) {
          await before.clock.advance(ms * 100)
          before.matchmaker.createTicket({
            id: `t${index}`,
            queues: both ? ['duel', 'other'] : ['other'],
            players: Array.from({ length: players }, (_, one) => ({ id: `p${index}.${one}`, ip: '198.51.100.7' })),
          })
        }
        await before.matchmaker.tick()
        const waiting = inputs.map((_, index) => `t${index}`).filter((id) => before.status(id) === 'SEARCHING')
        const snapshot = throughJson(before.matchmaker.exportTickets({ take: true }))
        await after.clock.advance(before.clock.now() - after.clock.now())
        const { tickets: taken, refused } = after.matchmaker.importTickets(snapshot)
        expect(refused).toEqual([])
        expect(taken.map(({ id }) => id)).toEqual(waiting)
        for (const ticket of taken) {
          const { createdAt, queues: names, players } = before.matchmaker.getTicket(ticket.id) ?? {}
          expect(ticket).toMatchObject({ createdAt, queues: names, players })
        }
      }),
      { numRuns: 50 },
    )
  })
})

describe('a reconfiguration of queues', () => {
  test('a reconfiguration of queues keeps waiting tickets and their wait time under the new rules', async () => {
    const { matchmaker, join, run, status } = setUp({ queues: [{ ...duel, matchSize: 3 }] })
    const { createdAt } = join('ann')
    join('ben')
    await run(1000)
    expect(matchmaker.reconfigure([duel])).toEqual({ refused: [] })
    expect(matchmaker.getTicket('ann')).toMatchObject({ status: 'SEARCHING', createdAt })
    await run(250)
    expect([status('ann'), status('ben')]).toEqual(['MATCH_FOUND', 'MATCH_FOUND'])
  })

  test('a reconfiguration names tickets that a new queue refuses, and keeps them in their other queues', () => {
    const other = { ...duel, name: 'other' }
    const { matchmaker, seen, join } = setUp({ queues: [duel, other] })
    join('ann', 'ben')
    matchmaker.createTicket({ id: 'both', queues: ['duel', 'other'], players: [{ id: 'cas', coordinates: at }] })
    matchmaker.createTicket({ id: 'else', queue: 'other', players: [{ id: 'dee', coordinates: at }] })
    const { refused } = matchmaker.reconfigure([{ ...duel, matchSize: 1 }])
    expect(refused.map(({ ticket, queue, error }) => [ticket.id, queue, error.message])).toEqual([
      ['both', 'other', 'Queue "other" has been removed from the configuration.'],
      ['else', 'other', 'Queue "other" has been removed from the configuration.'],
      ['ann-ben', 'duel', 'ticket: players: a party of 2 is too big: a team takes at most 1'],
    ])
    expect(seen.cancelled?.map(({ ticket, reason }) => [ticket.id, reason])).toEqual([
      ['ann-ben', 'refused'],
      ['else', 'refused'],
    ])
    expect(matchmaker.getTicket('both')).toMatchObject({ status: 'SEARCHING' })
  })

  test('a reconfiguration with invalid queues changes nothing', async () => {
    const { matchmaker, join, run, status } = setUp()
    join('ann', 'ben')
    expect(() => matchmaker.reconfigure([{ ...duel, matchSize: 0 }])).toThrow(InvalidQueue)
    await run(250)
    expect(status('ann-ben')).toBe('MATCH_FOUND')
  })

  test('a match found before a reconfiguration continues, and new rules apply to its tickets if it fails', async () => {
    const { matchmaker, service, join, run, status } = setUp({
      service: { fate: (nth) => (nth === 1 ? { errorMs: 2000 } : { readyMs: 1000 }) },
    })
    join('ann', 'ben')
    await run(250)
    matchmaker.reconfigure([{ ...duel, deploy: { ...duel.deploy, version: '2' } }])
    expect(status('ann-ben')).toBe('MATCH_FOUND')
    await run(10_000)
    expect(status('ann-ben')).toBe('HOST_ASSIGNED')
    expect(service.calls.create.map(({ version }) => version)).toEqual(['1', '2'])
  })

  test('an open backfill survives a reconfiguration with the same teams, and ends otherwise', async () => {
    const social = { ...duel, matchSize: undefined, teams: [{ name: 'all', size: { min: 1, max: 3 } }], fillForMs: 0 }
    const { matchmaker, join, run } = setUp({ queues: [social] })
    join('ann')
    await run(6500)
    const { id } = matchmaker.createBackfill({ matchId: matchmaker.getTicket('ann')?.matchId ?? '' })
    matchmaker.reconfigure([{ ...social, expireAfterMs: 1_000_000 }])
    join('ben')
    await run(250)
    expect(matchmaker.getBackfill(id)).toMatchObject({ status: 'OPEN', tickets: ['ben'] })
    matchmaker.reconfigure([duel])
    expect(matchmaker.getBackfill(id)?.status).toBe('CANCELLED')
  })
})
