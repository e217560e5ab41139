import { InvalidInput } from '@muster/core'
import { seededRandom } from '@muster/core/clock'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { InvalidQueue } from '../errors.js'
import { replayTickets } from './replay-tickets.js'
import { skill, duel, rated, setUp, playedIn } from './replay.fixture.js'

describe('a replay of recorded tickets', () => {
  test('a replay needs no pools for queues that name pools, because its servers are unlimited', async () => {
    const { matchmaker, lines, pass } = setUp([duel])
    for (const id of ['ann', 'ben']) matchmaker.createTicket({ id, queue: 'duel', players: [rated(id, 100)] })
    await pass(20_000)
    const { deploy: _, ...pooled } = { ...duel, pool: 'arena' }
    const replay = await replayTickets(lines, { queues: [pooled, { ...pooled, name: 'other' }] })
    expect(replay.matches.map(({ queue }) => queue)).toEqual(['duel'])
  })

  test('a recording of two processes is replayed in order of time, without a line that a crash has cut', async () => {
    const run = async (ids: readonly string[], startedMs: number) => {
      const { matchmaker, lines, pass, clock } = setUp([duel])
      const text = () =>
        lines.join('').replaceAll(/"(at|createdAt)":(\d+)/g, (_, name, at) => `"${name}":${+at + startedMs}`)
      for (const id of ids) {
        matchmaker.createTicket({ id, queue: 'duel', players: [rated(id, 100)] })
        await pass(2000)
      }
      return { text: text(), endedMs: clock.now() }
    }
    const first = await run(['ann', 'ben', 'cas', 'dee'], 0)
    const second = await run(['eve', 'fay'], 3_600_000)
    const cut = `${first.text}{"at":${first.endedMs},"n":5,"kind":"can`
    for (const text of [cut, cut + second.text]) {
      const { tickets, matches } = await replayTickets(text.split('\n'))
      expect(tickets.length).toBe(text === cut ? 4 : 6)
      expect(matches.map((match) => match.tickets.map(({ id }) => id).toSorted())).toEqual(
        [
          ['ann', 'ben'],
          ['cas', 'dee'],
          ['eve', 'fay'],
        ].slice(0, tickets.length / 2),
      )
      expect(tickets.every(({ createdAt, matchedAt = Infinity }) => matchedAt - createdAt < 3000)).toBe(true)
    }
    const middle = first.text.trimStart().split('\n').toSpliced(2, 0, '{"at"')
    await expect(replayTickets(middle)).rejects.toThrow(/^recording, line 3: is not JSON/)
  })

  const arrival = fc.record({
    afterMs: fc.nat(4000),
    skills: fc.array(fc.nat(300), { minLength: 1, maxLength: 2 }),
    cancelAfterMs: fc.option(fc.nat(8000), { nil: undefined }),
    leavesAfterMs: fc.nat(9000),
  })

  /** The commands to the matchmaker for one ticket, with their times. */
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
        // It is too late to cancel the ticket.
      }
    }
    await pass(20_000)
    return { lines, played: played() }
  }

  test('a replay makes the recorded matches for any order of lines, with the same result each time', async () => {
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
      // Few, to save time: `pnpm fuzz` tries others.
      { numRuns: 8 },
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

  test('a replay with other queues reports the matches these would have made of the recorded tickets', async () => {
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

  test('a replay ends even if a ticket was created again after it had ended', async () => {
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

  test('a replay cancels a ticket as absent exactly when the recording contains this cancellation', async () => {
    const { matchmaker, lines, parsed, pass } = setUp([
      { ...duel, expireAfterMs: 60_000, presence: { withinMs: 10_000 } },
    ])
    matchmaker.createTicket({ id: 'ann', queue: 'duel', players: [rated('ann', 100)] })
    matchmaker.createTicket({ id: 'eve', queue: 'duel', players: [rated('eve', 1000)] })
    for (let times = 0; times < 5; times += 1) {
      await pass(9000)
      matchmaker.notePresence([{ ticketId: 'ann' }])
    }
    expect(parsed().filter(({ kind }) => kind === 'cancel')).toMatchObject([{ ticketId: 'eve' }])
    const ben = { id: 'ben', queue: 'duel', players: [rated('ben', 110)] }
    matchmaker.createTicket(ben)
    await pass(8000)
    const replayed = await replayTickets(lines)
    expect(playedIn(replayed)).toEqual([['ann', 'ben']])
    expect(replayed.tickets.map(({ id, outcome }) => [id, outcome])).toEqual([
      ['ann', 'assigned'],
      ['eve', 'cancelled'],
      ['ben', 'assigned'],
    ])
  })

  test("a replay accepts every match if acceptance is 'always'", async () => {
    const lines = await twoOfEach()
    const queues = [{ ...duel, acceptance: { withinMs: 1000 } }]
    expect((await replayTickets(lines, { queues })).matches).toEqual([])
    expect(playedIn(await replayTickets(lines, { queues, acceptance: 'always' }))).toEqual([['ann', 'ben']])
  })

  test('a replay fills a recorded backfill', async () => {
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

  test('a replay cancels the tickets of players who left before their server ran', async () => {
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

  test('a replay refuses wrong options and recordings, naming the option', async () => {
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

test('a replay reports its progress while it runs', async () => {
  const { matchmaker, lines, pass } = setUp()
  for (let index = 0; index < 1200; index += 1) {
    matchmaker.createTicket({ id: `t${index}`, queue: 'duel', players: [rated(`p${index}`, index)] })
  }
  await pass(1000)
  const shares: number[] = []
  const { tickets } = await replayTickets(lines, { progressed: (share) => shares.push(share) })
  expect(shares).toEqual([0, 500 / 1201, 1000 / 1201])
  expect(tickets[0]?.matchedAt).toBeLessThanOrEqual(tickets[0]?.endedAt ?? 0)
})
