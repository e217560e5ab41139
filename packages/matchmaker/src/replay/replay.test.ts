import { InvalidInput } from '@muster/core'
import { createManualClock, seededRandom } from '@muster/core/clock'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createMatchmaker } from '../create-matchmaker.js'
import { InvalidQueue } from '../errors.js'
import type { Locate } from '../tickets/locate/locate.js'
import type { QueueDefinition } from '../queues/queue.js'
import type { Player } from '../player.js'
import { recordTickets, type RecordOptions } from './record-tickets.js'
import { replayTickets } from './replay-tickets.js'
import { createStubService } from './stub-service.js'

const deploy = { application: 'game', version: '1' }
const skill = {
  kind: 'difference',
  attribute: 'skill',
  max: [
    { afterMs: 0, value: 50 },
    { afterMs: 2000, value: 200 },
  ],
} as const
const duel: QueueDefinition = { name: 'duel', matchSize: 2, rules: [skill], expireAfterMs: 10_000, deploy }

const START_MS = 5000
const oslo = { latitude: 59.9, longitude: 10.7 }
const rated = (id: string, value: number): Player => ({ id, coordinates: oslo, attributes: { skill: value } })

/** A matchmaker that runs on a manual clock, recorded, and the matches that it made. */
function setUp(queues: readonly QueueDefinition[] = [duel], recording: RecordOptions = {}) {
  const clock = createManualClock()
  const plain = createMatchmaker({
    deployments: createStubService(clock, START_MS),
    queues,
    clock,
    random: seededRandom(99),
    locate: recording.locate,
    maxServers: Infinity,
    maxStarting: Infinity,
  })
  const lines: string[] = []
  const matchmaker = recordTickets(plain, (line) => lines.push(line), { clock, queues, ...recording })
  const matches = new Map<string, Set<string>>()
  plain.on('assigned', ({ matchId, tickets }) => {
    const ids = matches.get(matchId) ?? new Set()
    matches.set(matchId, ids)
    for (const { id } of tickets) ids.add(id)
  })
  matchmaker.start()
  const pass = (ms: number) => clock.advance(ms)
  const played = () => Array.from(matches.values(), (ids) => [...ids].toSorted()).toSorted()
  const parsed = () => lines.map((line) => JSON.parse(line) as Record<string, unknown>)
  return { clock, matchmaker, plain, lines, parsed, pass, played }
}

const playedIn = ({ matches }: Awaited<ReturnType<typeof replayTickets>>) =>
  matches.map(({ tickets }) => tickets.map(({ id }) => id).toSorted()).toSorted()

describe('a recording', () => {
  test('is one line for each thing done, with its time, and none for what was refused', async () => {
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

  test('holds no address unless asked to, however long the lookup takes, and the order of the calls', async () => {
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

  test('begins with what waits already', async () => {
    const { matchmaker, plain, pass, clock, played } = setUp()
    const start = clock.now()
    matchmaker.createTicket({ id: 'a', queue: 'duel', players: [rated('ann', 100)] })
    await pass(3000)
    const lines: string[] = []
    const again = recordTickets(plain, (line) => lines.push(line), { clock, queues: [duel] })
    // It takes her for her waiting time.
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

  test('that cannot be written is a warning, and the ticket is created', () => {
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

describe('a replay', () => {
  const arrival = fc.record({
    afterMs: fc.nat(4000),
    skills: fc.array(fc.nat(300), { minLength: 1, maxLength: 2 }),
    cancelAfterMs: fc.option(fc.nat(8000), { nil: undefined }),
    leavesAfterMs: fc.nat(9000),
  })

  /** What would be asked of a matchmaker, at which millisecond. */
  type Arrival = typeof arrival extends fc.Arbitrary<infer One> ? One : never

  const record = async (arrivals: readonly Arrival[], mode: 'tick' | 'arrival') => {
    const { matchmaker, lines, pass, played, clock } = setUp([{ ...duel, mode }])
    const start = clock.now()
    const acts: { at: number; act: () => void }[] = []
    for (const [index, { afterMs, skills, cancelAfterMs, leavesAfterMs }] of arrivals.entries()) {
      const id = `t${index}`
      const players = skills.map((value, place) => rated(`${id}-${place}`, value))
      acts.push({ at: afterMs, act: () => void matchmaker.createTicket({ id, queue: 'duel', players }) })
      if (cancelAfterMs !== undefined)
        acts.push({ at: afterMs + 1 + cancelAfterMs, act: () => void matchmaker.cancelTicket(id) })
      acts.push({
        at: 9000 + leavesAfterMs,
        act: () => {
          const { matchId, status } = matchmaker.getTicket(id) ?? {}
          if (matchId === undefined || status !== 'HOST_ASSIGNED') return
          matchmaker.playersLeft(
            matchId,
            players.map((player) => player.id),
          )
        },
      })
    }
    for (const { at, act } of acts.toSorted((a, b) => a.at - b.at)) {
      await pass(start + at - clock.now())
      try {
        act()
      } catch {
        // Too late to be cancelled.
      }
    }
    await pass(20_000)
    return { lines, played: played() }
  }

  test('makes the matches that were made, whatever the order of the lines; and the same of everything each time', async () => {
    const some = fc.array(arrival, { minLength: 1, maxLength: 24 })
    const modes = fc.constantFrom('tick', 'arrival')
    await fc.assert(
      fc.asyncProperty(some, modes, fc.integer(), async (arrivals, mode, seed) => {
        const { lines, played } = await record(arrivals, mode)
        const replay = await replayTickets(lines)
        expect(playedIn(replay)).toEqual(played)
        expect(replay.refused).toEqual([])
        const random = seededRandom(seed)
        const shuffled = lines.map((line) => ({ line, at: random() })).toSorted((a, b) => a.at - b.at)
        expect(await replayTickets(shuffled.map(({ line }) => line))).toEqual(replay)
        const other = await replayTickets(lines, { seed: 2 })
        expect(playedIn(other)).toEqual(played)
      }),
      { numRuns: 30 },
    )
  })

  const twoOfEach = async () => {
    const { matchmaker, lines, pass } = setUp()
    for (const [id, value] of Object.entries({ ann: 0, ben: 40, cem: 500, dan: 900 })) {
      matchmaker.createTicket({ id, queue: 'duel', players: [rated(id, value)] })
    }
    await pass(12_000)
    return lines
  }

  test('says what would have been with other queues', async () => {
    const lines = await twoOfEach()
    const before = await replayTickets(lines)
    expect(playedIn(before)).toEqual([['ann', 'ben']])
    expect(before.summary).toMatchObject({
      players: 4,
      tickets: 4,
      matches: 1,
      matchedShare: 0.5,
      unmatched: { expired: 2 },
    })
    expect(before.summary.quality.difference['skill']?.max).toBe(40)
    const after = await replayTickets(lines, { queues: [{ ...duel, rules: [{ ...skill, max: 1000 }] }] })
    expect(after.summary).toMatchObject({
      matches: 2,
      matchedShare: 1,
      unmatched: {},
      queues: { duel: { matches: 2 } },
    })
    expect(after.summary.quality.difference['skill']?.max).toBe(400)
    expect(after.summary.waitMs.max).toBeLessThan(before.summary.waitMs.max + 1000)
    const refused = await replayTickets(lines, { queues: [{ ...duel, name: 'other' }] })
    expect(refused.refused.map(({ ticketId, error }) => [ticketId, error.name])).toEqual(
      ['ann', 'ben', 'cem', 'dan'].map((id) => [id, 'UnknownQueue']),
    )
  })

  test('ends, even if a ticket was created again after it had ended', async () => {
    const { matchmaker, lines, parsed, pass } = setUp()
    const create = (id: string) => matchmaker.createTicket({ id, queue: 'duel', players: [rated(id, 10)] })
    for (const id of ['ann', 'ben']) create(id)
    await pass(8000)
    expect(create('ann').status).toBe('HOST_ASSIGNED')
    expect(matchmaker.createTickets([{ id: 'ben', queue: 'duel', players: [rated('ben', 10)] }])).toHaveLength(1)
    expect(parsed().filter(({ kind }) => kind === 'create')).toHaveLength(2)
    const again = { ...parsed()[1], at: Number(parsed()[1]?.['at']) + 8000, n: 99 }
    const replay = await replayTickets([...lines, JSON.stringify(again)])
    expect(playedIn(replay)).toEqual([['ann', 'ben']])
  })

  test('accepts for everybody if told so', async () => {
    const lines = await twoOfEach()
    const queues = [{ ...duel, acceptance: { withinMs: 1000 } }]
    expect((await replayTickets(lines, { queues })).matches).toEqual([])
    expect(playedIn(await replayTickets(lines, { queues, acceptance: 'always' }))).toEqual([['ann', 'ben']])
  })

  test('fills a backfill again', async () => {
    const { matchmaker, lines, pass, played } = setUp()
    for (const id of ['ann', 'ben']) matchmaker.createTicket({ id, queue: 'duel', players: [rated(id, 10)] })
    await pass(8000)
    const { matchId = '' } = matchmaker.getTicket('ann') ?? {}
    matchmaker.playersLeft(matchId, ['ben'])
    matchmaker.createBackfill({ matchId })
    await pass(500)
    matchmaker.createTicket({ id: 'cem', queue: 'duel', players: [rated('cem', 20)] })
    await pass(8000)
    expect(played()).toEqual([['ann', 'ben', 'cem']])
    const replay = await replayTickets(lines)
    expect(playedIn(replay)).toEqual(played())
    expect(replay.skipped).toBe(0)
  })

  test('cancels the tickets of players who left before their server ran', async () => {
    const { matchmaker, lines, parsed, pass, played } = setUp([{ ...duel, replaceLeavers: true }])
    for (const id of ['ann', 'ben']) matchmaker.createTicket({ id, queue: 'duel', players: [rated(id, 10)] })
    await pass(1000)
    matchmaker.playersLeft(matchmaker.getTicket('ann')?.matchId ?? '', ['ben'])
    matchmaker.createTicket({ id: 'cem', queue: 'duel', players: [rated('cem', 20)] })
    await pass(8000)
    expect(played()).toEqual([['ann', 'cem']])
    expect(parsed().filter(({ kind }) => kind === 'left' || kind === 'cancel')).toMatchObject([
      { kind: 'cancel', ticketId: 'ben' },
    ])
    const replay = await replayTickets(lines)
    expect(playedIn(replay)).toEqual(played())
    expect(replay.skipped).toBe(0)
  })

  test('refuses options and recordings that are wrong, by name', async () => {
    const lines = await twoOfEach()
    await expect(replayTickets(lines, { seed: -1 })).rejects.toThrow('option seed: ')
    await expect(replayTickets(lines, { queues: [{ ...duel, name: '' }] })).rejects.toBeInstanceOf(InvalidQueue)
    await expect(replayTickets(lines.slice(1))).rejects.toThrow(
      'option queues: must be given, since the recording has none',
    )
    await expect(replayTickets([...lines, '{}'])).rejects.toBeInstanceOf(InvalidInput)
    await expect(replayTickets([])).rejects.toThrow('option queues: ')
  })
})
