import { createManualClock } from '@muster/core/clock'
import { describe, expect, test } from 'vitest'
import { createMatchmaker } from '../create-matchmaker.js'
import { open, world } from '../listed-servers.fixture.js'
import type { Locate } from '../locate/index.js'
import type { Player } from '@muster/hosting/internal'
import { recordTickets, type RecordOptions } from './record-tickets.js'
import { replayTickets } from './replay-tickets.js'
import { createStubService } from './stub-service.js'
import { duel, START_MS, oslo, rated, setUp, playedIn } from './replay.fixture.js'

describe('a recording of tickets', () => {
  test('a recording has a line with a time for each accepted command, and no line for refused commands', async () => {
    const { matchmaker, parsed, pass, clock } = setUp()
    const start = clock.now()
    matchmaker.createTicket({ id: 'a', queue: 'duel', players: [rated('ann', 100)] })
    await pass(100)
    expect(() => matchmaker.createTicket({ id: 'b', queue: 'duel', players: [rated('ann', 100)] })).toThrow()
    expect(() => matchmaker.cancelTicket('nobody')).toThrow()
    const results = matchmaker.createTickets([
      { id: 'c', queue: 'nowhere', players: [rated('cem', 100)] },
      { id: 'd', queues: ['duel'], players: [rated('dan', 900)], priority: 3 },
    ])
    expect(results.map(({ error }) => error?.name)).toEqual(['UnknownQueue', undefined])
    matchmaker.cancelTicket('d')
    const ticket = (id: string, player: Player, priority = 0) => ({ id, queues: ['duel'], players: [player], priority })
    expect(parsed()).toMatchObject([
      { kind: 'start', at: start, n: 0, format: 'muster-recording-1', queues: [{ name: 'duel' }] },
      { kind: 'create', at: start, ticket: { ...ticket('a', rated('ann', 100)), createdAt: start } },
      { kind: 'create', at: start + 100, ticket: { ...ticket('d', rated('dan', 900), 3), createdAt: start + 100 } },
      { kind: 'cancel', at: start + 100, ticketId: 'd' },
    ])
  })

  test('a recording has no line for a private match, nor for its tickets when they are imported', () => {
    const { matchmaker, parsed, lines } = setUp()
    const players = [rated('ann', 100), rated('ben', 100)]
    matchmaker.createMatch({ id: 'm', queue: 'duel', teams: [{ name: 'team', players }] })
    expect(parsed().map(({ kind }) => kind)).toEqual(['start'])
    const snapshot = matchmaker.exportTickets({ take: true })
    const before = lines.length
    expect(matchmaker.importTickets(snapshot).tickets).toMatchObject([{ id: 'm-1', privateMatch: 'm' }])
    recordTickets(matchmaker, (line) => lines.push(line))
    expect(lines.slice(before).filter((line) => line.includes('"create"'))).toEqual([])
  })

  test('a recording has one stop of a match on a pool server, even if the match is stopped again', async () => {
    const { matchmaker, join, run, clock, seen } = open({ pools: [world] })
    const lines: string[] = []
    const recorded = recordTickets(matchmaker, (line) => lines.push(line), { clock })
    await run(8000)
    join('ann', 'ben')
    await run(3000)
    const matchId = seen.serverAssigned?.[0]?.matchId ?? ''
    void recorded.stopMatch(matchId).catch(() => {})
    await run(3000)
    void recorded.stopMatch(matchId).catch(() => {})
    expect(seen.serverFreed).toMatchObject([{ matchId, reason: 'stopped' }])
    expect(lines.filter((line) => line.includes('"stop"'))).toHaveLength(1)
  })

  test('a recording has both the leave of a playing player and the cancel of a ticket about to join', async () => {
    const { matchmaker, parsed, pass } = setUp([{ ...duel, matchSize: 3, acceptance: { withinMs: 60_000 } }])
    const join = (id: string) => matchmaker.createTicket({ id, queue: 'duel', players: [rated(id, 100)] })
    for (const id of ['ann', 'ben', 'cas']) join(id)
    await pass(250)
    for (const id of ['ann', 'ben', 'cas']) matchmaker.acceptMatch(id)
    await pass(START_MS + 5000)
    const { matchId = '' } = matchmaker.getTicket('ann') ?? {}
    void matchmaker.playersLeft(matchId, ['ann'])
    matchmaker.createBackfill({ matchId })
    join('dee')
    await pass(250)
    expect(matchmaker.getTicket('dee')).toMatchObject({ status: 'MATCH_FOUND', matchId })
    void matchmaker.playersLeft(matchId, ['ben', 'dee'])
    expect(parsed().slice(-2)).toMatchObject([
      { kind: 'left', playerIds: ['ben'] },
      { kind: 'cancel', ticketId: 'dee' },
    ])
  })

  test('a recording has no addresses by default, and keeps the order of calls despite slow lookups', async () => {
    const places: Record<string, typeof oslo> = { '192.0.2.1': oslo }
    const later: Locate = async (ip) => places[ip]
    const record = async (options: RecordOptions) => {
      const { matchmaker, lines, pass } = setUp([duel], { locate: later, ...options })
      for (const [id, ip] of Object.entries({ ann: '192.0.2.1', ben: '203.0.113.5' })) {
        matchmaker.createTicket({ id, queue: 'duel', players: [{ id, ip, attributes: { skill: 1 } }] })
      }
      matchmaker.cancelTicket('ann')
      await pass(0)
      return lines
        .map((line) => JSON.parse(line) as Record<string, unknown>)
        .toSorted((a, b) => Number(a['n']) - Number(b['n']))
    }
    const kept = await record({})
    expect(JSON.stringify(kept)).not.toMatch(/192\.0\.2|203\.0\.113/)
    expect(kept.slice(1)).toMatchObject([
      { kind: 'create', ticket: { players: [{ id: 'ann', coordinates: oslo }] } },
      { kind: 'create', ticket: { players: [{ id: 'ben', network: 0 }] } },
      { kind: 'cancel', ticketId: 'ann' },
    ])
    const whole = await record({ addresses: true })
    expect(whole[2]).toMatchObject({ ticket: { players: [{ id: 'ben', ip: '203.0.113.5' }] } })
  })

  test('a recording starts with the tickets that already wait', async () => {
    const { matchmaker, plain, pass, clock, played } = setUp()
    const start = clock.now()
    matchmaker.createTicket({ id: 'a', queue: 'duel', players: [rated('ann', 100)] })
    await pass(3000)
    const lines: string[] = []
    const again = recordTickets(plain, (line) => lines.push(line), { clock, queues: [duel] })
    // Ann and ben can be matched only because ann has waited.
    again.createTicket({ id: 'b', queue: 'duel', players: [rated('ben', 250)] })
    await pass(15_000)
    expect(played()).toEqual([['a', 'b']])
    expect(JSON.parse(lines[1] ?? '')).toMatchObject({
      kind: 'create',
      at: start + 3000,
      ticket: { id: 'a', createdAt: start },
    })
    expect(playedIn(await replayTickets(lines))).toEqual([['a', 'b']])
  })

  test('a recording that cannot be written causes a warning, and tickets are still created', () => {
    const warnings: unknown[] = []
    const warned = (warning: Error) => warnings.push(warning.message)
    process.on('warning', warned)
    const clock = createManualClock()
    const plain = createMatchmaker({ deployments: createStubService(clock, START_MS), queues: [duel], clock })
    const full = () => {
      throw new Error('the disk is full')
    }
    const matchmaker = recordTickets(plain, full, { clock })
    expect(matchmaker.createTicket({ queue: 'duel', players: [rated('ann', 1)] }).status).toBe('SEARCHING')
    return new Promise<void>((resolve) => {
      setImmediate(() => {
        process.off('warning', warned)
        expect(warnings).toEqual(['tickets are not recorded: Error: the disk is full'])
        resolve()
      })
    })
  })
})
