import { createHmac } from 'node:crypto'
import { createManualClock, seededRandom } from '@muster/core/clock'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createResultOutbox, type MatchOutcome, resultsSchema } from './result-outbox.js'

const secret = `whsec_${Buffer.from('x'.repeat(32)).toString('base64')}`
const outcome = (matchId: string, ...playerIds: string[]): MatchOutcome => ({
  matchId,
  queue: 'duel',
  playerIds,
  result: { ranking: playerIds.map((id) => [id]) },
  endedAt: 0,
})

interface Taken {
  readonly id: string
  readonly matchId: string
  /** Seconds since the epoch. */
  readonly sentAt: number
}

let seed = 0

/** An outbox over a backend that answers as `answers` says, call by call; then 204. */
function open(answers: readonly (number | 'lost')[] = [], kept = new Map<string, string>()) {
  const clock = createManualClock()
  const random = seededRandom((seed += 1))
  const taken: Taken[] = []
  const problems: unknown[] = []
  let call = 0
  const outbox = createResultOutbox({
    url: 'https://game.example.com/results',
    secret,
    clock,
    random,
    records: {
      stored: () => Array.from(kept, ([key, value]) => ({ key, value })),
      put: (key, value) => void kept.set(key, value),
      remove: (key) => void kept.delete(key),
    },
    problem: (error) => problems.push(error),
    fetch: async (_, init) => {
      const { headers, body } = init as { headers: Record<string, string>; body: string }
      const answer = answers[call] ?? 204
      call += 1
      const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`
      const expected = createHmac('sha256', Buffer.from(secret.slice(6), 'base64'))
        .update(signed)
        .digest('base64')
      expect(headers['webhook-signature']).toBe(`v1,${expected}`)
      const { id, data } = JSON.parse(body) as { id: string; data: { match_id: string } }
      // A lost answer has been taken all the same.
      if (answer === 'lost' || answer < 300)
        taken.push({ id, matchId: data.match_id, sentAt: Number(headers['webhook-timestamp']) })
      if (answer === 'lost') throw new TypeError('fetch failed')
      return new Response(null, { status: answer })
    },
  })
  const run = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += 1000) {
      outbox.advance(clock.now())
      await clock.advance(1000)
    }
  }
  return { outbox, taken, problems, kept, run, clock }
}

describe('results of matches', () => {
  test('are sent once where the backend takes them', async () => {
    const { outbox, taken, kept, run } = open()
    outbox.add(outcome('m1', 'ann', 'ben'))
    expect(kept.size).toBe(1)
    await run(2000)
    expect(taken.map(({ matchId }) => matchId)).toEqual(['m1'])
    expect([kept.size, outbox.pending()]).toEqual([0, 0])
  })

  test('are repeated with the same id until the backend takes them, also by a later process', async () => {
    const { outbox, taken, kept, problems, run } = open([500, 'lost', 503])
    outbox.add(outcome('m1', 'ann'))
    await run(3000)
    expect(problems.length).toBeGreaterThan(0)
    outbox.close()
    expect(kept.size).toBe(1)
    const later = open([], kept)
    await later.run(3000)
    expect(later.taken.map(({ matchId }) => matchId)).toEqual(['m1'])
    expect(new Set([...taken, ...later.taken].map(({ id }) => id)).size).toBe(1)
    expect(kept.size).toBe(0)
  })

  test('of each player arrive in their order, whatever fails, and none is lost', async () => {
    const answer = fc.constantFrom<number | 'lost'>(204, 500, 'lost', 503, 302)
    const players = fc.uniqueArray(fc.constantFrom('ann', 'ben', 'cid', 'dan'), { minLength: 1, maxLength: 3 })
    await fc.assert(
      fc.asyncProperty(
        fc.array(answer, { maxLength: 20 }),
        fc.array(players, { minLength: 1, maxLength: 12 }),
        async (answers, matches) => {
          const { outbox, taken, run } = open(answers)
          for (const [nth, playerIds] of matches.entries()) outbox.add(outcome(`m${nth}`, ...playerIds))
          await run(3_600_000 / 10)
          expect(outbox.pending()).toBe(0)
          const first = [...new Set(taken.map(({ matchId }) => matchId))]
          expect(first).toHaveLength(matches.length)
          for (const player of ['ann', 'ben', 'cid', 'dan'] as const) {
            const own = first.filter((matchId) => matches[Number(matchId.slice(1))]?.includes(player))
            expect(own).toEqual(own.toSorted((one, other) => Number(one.slice(1)) - Number(other.slice(1))))
          }
        },
      ),
      { numRuns: 30 },
    )
  })

  test('are signed for the time of the wall clock, whichever way it was set', async () => {
    for (const stepMs of [86_400_000, -86_400_000]) {
      const { outbox, taken, run, clock } = open()
      clock.step(stepMs)
      outbox.add(outcome('m1', 'ann'))
      await run(1000)
      expect(taken).toMatchObject([{ sentAt: Math.floor(Date.UTC(2026, 0, 1) + stepMs) / 1000 }])
    }
  })

  test('have a bound: a match of which nothing is said is left out. What waits is sent in linear time', async () => {
    const { outbox, taken, kept, problems, run } = open()
    let looks = 0
    const players = (matchId: string) => ({
      ...outcome(matchId, matchId),
      get playerIds() {
        looks += 1
        return [matchId]
      },
    })
    for (let nth = 0; nth < 50_000; nth += 1) outbox.add(players(`m${nth}`))
    expect(outbox.isFull()).toBe(true)
    outbox.add({ ...outcome('silent', 'ann'), result: undefined })
    expect([outbox.pending(), kept.size, problems.length]).toEqual([50_000, 50_000, 1])
    looks = 0
    await run(1000)
    expect(taken).toHaveLength(50_000)
    // One look to send it, one to write its body, and those at the others under way.
    expect(looks).toBeLessThan(50_000 * 20)
    outbox.add({ ...outcome('silent', 'ann'), result: undefined })
    expect(outbox.pending()).toBe(1)
  })

  test('that are damaged in the store are reported and left out, and the others are sent in their order', async () => {
    const ended = (matchId: string, endedAt: number) => JSON.stringify({ ...outcome(matchId, 'ann'), endedAt })
    const damaged = ended('m1', 1).slice(0, -9)
    const kept = new Map([
      ['msg_3', ended('m3', 3)],
      ['msg_1', damaged],
      ['msg_2', ended('m2', 2)],
    ])
    const { taken, problems, run } = open([], kept)
    await run(3000)
    expect(taken.map(({ matchId }) => matchId)).toEqual(['m2', 'm3'])
    expect(problems.map(String)).toEqual(['Error: result msg_1 is not in the store as it was written'])
  })
})

test.each([
  [{ url: 'ftp://x', secret }, 'url'],
  [{ url: 'https://x.example.com', secret: 'short' }, 'secret'],
  [{ url: 'https://x.example.com', secret: 'whsec_c2hvcnQ=' }, 'secret'],
])('a wrong destination is refused by field: %j', (given, field) => {
  expect(resultsSchema.safeParse(given).error?.issues[0]?.path).toEqual([field])
})
