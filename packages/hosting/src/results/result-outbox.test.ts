import { createHmac } from 'node:crypto'
import { createManualClock, seededRandom } from '@muster/core/clock'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ResultOutbox, type MatchOutcome, resultsSchema } from './result-outbox.js'

const secret = `whsec_${Buffer.from('x'.repeat(32)).toString('base64')}`
const outcome = (matchId: string, ...playerIds: readonly string[]): MatchOutcome => ({
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

/** The response to a POST: a status, a lost response, or no backend. */
type Answer = 'hangs' | number | Response | 'lost' | 'away'

/**
 * Creates an outbox. The backend gives these responses call by call, and then 204, or the given response to each match.
 * @param disk the stored results. Writes fail while `isFull`.
 */
function open(
  answers: readonly Answer[] | ((matchId: string) => Answer | Promise<Answer>) = [],
  kept = new Map<string, string>(),
  disk: { isFull: boolean } = { isFull: false },
) {
  const clock = createManualClock()
  const random = seededRandom((seed += 1))
  const taken: Taken[] = []
  const problems: unknown[] = []
  let call = 0
  const outbox = new ResultOutbox({
    url: 'https://game.example.com/results',
    secret,
    clock,
    random,
    records: {
      stored: () => Array.from(kept, ([key, value]) => ({ key, value })),
      put: (key, value) => void kept.set(key, value),
      remove: (key) => void kept.delete(key),
      written: () => (disk.isFull ? Promise.reject(new Error('no space left')) : undefined),
    },
    problem: (error) => problems.push(error),
    fetch: async (_, init) => {
      const { headers, body } = init as { headers: Record<string, string>; body: string }
      const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`
      const expected = createHmac('sha256', Buffer.from(secret.slice(6), 'base64'))
        .update(signed)
        .digest('base64')
      expect(headers['webhook-signature']).toBe(`v1,${expected}`)
      const { id, data } = JSON.parse(body) as { id: string; data: { match_id: string } }
      const answer = typeof answers === 'function' ? await answers(data.match_id) : (answers[call] ?? 204)
      call += 1
      if (answer === 'away') throw new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED') })
      const ended = init?.signal as AbortSignal
      if (answer === 'hangs')
        return new Promise<never>((_resolve, reject) => ended.addEventListener('abort', () => reject(ended.reason)))
      if (answer instanceof Response) return answer
      // The backend has accepted the result although its response was lost.
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

/** Adds results, and counts how often the outbox looks at their players. */
function countedLooks(outbox: ResultOutbox, results: number) {
  const looks = { count: 0 }
  for (let nth = 0; nth < results; nth += 1)
    outbox.add({
      ...outcome(`m${nth}`),
      get playerIds() {
        looks.count += 1
        return [`m${nth}`]
      },
    })
  return looks
}

describe('results of matches', () => {
  test('a match result is sent once if the backend accepts it', async () => {
    const { outbox, taken, kept, run } = open()
    outbox.add(outcome('m1', 'ann', 'ben'))
    expect(kept.size).toBe(1)
    await run(2000)
    expect(taken.map(({ matchId }) => matchId)).toEqual(['m1'])
    expect([kept.size, outbox.pending()]).toEqual([0, 0])
  })

  test('a match result is sent again with the same id until the backend accepts it, even after a restart', async () => {
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

  test('match results arrive in order for each player despite failures, and none is lost', async () => {
    const answer = fc.constantFrom<number | 'lost'>(204, 500, 'lost', 503, 302)
    const players = fc.uniqueArray(fc.constantFrom('ann', 'ben', 'cid', 'dan'), { minLength: 1, maxLength: 3 })
    await fc.assert(
      fc.asyncProperty(
        fc.array(answer, { maxLength: 9 }),
        fc.array(players, { minLength: 1, maxLength: 12 }),
        async (answers, matches) => {
          const { outbox, taken, run } = open(answers)
          for (const [nth, playerIds] of matches.entries()) outbox.add(outcome(`m${nth}`, ...playerIds))
          await run(1_200_000)
          expect(outbox.pending()).toBe(0)
          const first = [...new Set(taken.map(({ matchId }) => matchId))]
          expect(first).toHaveLength(matches.length)
          for (const player of ['ann', 'ben', 'cid', 'dan'] as const) {
            const own = first.filter((matchId) => matches[Number(matchId.slice(1))]?.includes(player))
            expect(own).toEqual(own.toSorted((one, other) => Number(one.slice(1)) - Number(other.slice(1))))
          }
        },
      ),
      { numRuns: 15 },
    )
  })

  test('a match result is signed with the wall-clock time, even after the clock was changed', async () => {
    for (const stepMs of [86_400_000, -86_400_000]) {
      const { outbox, taken, run, clock } = open()
      clock.step(stepMs)
      outbox.add(outcome('m1', 'ann'))
      await run(1000)
      expect(taken).toMatchObject([{ sentAt: Math.floor(Date.UTC(2026, 0, 1) + stepMs) / 1000 }])
    }
  })

  test('match results beyond the limit are dropped and reported', async () => {
    const { outbox, kept, problems, run } = open((matchId) => (matchId === 'm0' ? 204 : 'hangs'))
    for (let nth = 0; nth < 50_000; nth += 1) outbox.add(outcome(`m${nth}`, `p${nth}`))
    outbox.add(outcome('one too many', 'ann'))
    expect([outbox.pending(), kept.size, problems.length]).toEqual([50_000, 50_000, 1])
    await run(1000)
    expect(outbox.pending()).toBe(49_999)
    outbox.add(outcome('later', 'ann'))
    expect([outbox.pending(), problems.length]).toEqual([50_000, 1])
  })

  test('many waiting results take linear time', async () => {
    const { outbox, taken, run } = open()
    const looks = countedLooks(outbox, 5000)
    looks.count = 0
    await run(1000)
    expect(taken).toHaveLength(5000)
    // Each result is looked at when it is sent, when it is written, and while others are in flight.
    expect(looks.count).toBeLessThan(5000 * 20)
  })

  test('while the backend is away, the tries of many waiting results take linear time', async () => {
    const { outbox, run } = open(() => 'away')
    const looks = countedLooks(outbox, 2000)
    looks.count = 0
    await run(10_000)
    // In 10 s, each result is tried about four times.
    expect(looks.count).toBeGreaterThan(2000)
    expect(looks.count).toBeLessThan(2000 * 30)
  })

  test('a match has one result, whose id is derived from the match', async () => {
    const { outbox, taken, run } = open()
    outbox.add(outcome('m1', 'ann'))
    outbox.add(outcome('m1', 'ben'))
    await run(2000)
    expect(taken).toMatchObject([{ id: 'msg_m1', matchId: 'm1' }])
  })

  test('a match result is sent only after the store has it', async () => {
    const disk = { isFull: true }
    const { outbox, taken, problems, run } = open([], new Map(), disk)
    outbox.add(outcome('m1', 'ann'))
    outbox.add(outcome('m2', 'ann'))
    await run(10_000)
    // The store reports its own failure, so the outbox reports none.
    expect([taken, problems, outbox.pending()]).toEqual([[], [], 2])
    disk.isFull = false
    await run(3000)
    expect(taken.map(({ matchId }) => matchId)).toEqual(['m1', 'm2'])
  })

  test('stored match results can be loaded in slices, and a command in between loads the rest', async () => {
    const kept = new Map<string, string>()
    const before = open([], kept)
    for (const id of ['m1', 'm2', 'm3', 'm4']) before.outbox.add(outcome(id, 'ann'))
    kept.set('msg_m0', '{')
    const whole = open([], kept)
    expect([whole.outbox.load(4), whole.outbox.load(4), whole.outbox.load(4)]).toEqual([false, false, true])
    await whole.run(5000)
    expect(whole.taken.map(({ matchId }) => matchId)).toEqual(['m1', 'm2', 'm3', 'm4'])
    expect(whole.problems).toHaveLength(1)

    for (const id of ['m5', 'm6', 'm7', 'm8']) before.outbox.add(outcome(id, 'ann'))
    const next = open([], kept)
    expect(next.outbox.load(1)).toBe(false)
    next.outbox.add(outcome('m5', 'ann'))
    expect([next.outbox.load(1), next.outbox.pending()]).toEqual([true, 4])
  })

  test('a damaged match result in the store is reported and skipped, and stops no other result', async () => {
    const ended = (matchId: string, endedAt: number) => JSON.stringify({ ...outcome(matchId, 'ann'), endedAt })
    const wrong = (changes: object) => JSON.stringify({ ...outcome('m1', 'ann'), ...changes })
    const damaged = [
      ended('m1', 1).slice(0, -9),
      '{}',
      'null',
      '[]',
      '{"setAsideAt":1}',
      wrong({ playerIds: 'ann' }),
      wrong({ endedAt: 1e20 }),
      wrong({ matchId: 7 }),
      wrong({ left: [{}] }),
      wrong({ left: {} }),
    ].map((text, nth) => [`msg_x${nth}`, text] as const)
    const kept = new Map([['msg_3', ended('m3', 3)], ...damaged, ['msg_2', ended('m2', 2)]])
    const { outbox, taken, problems, run } = open([], kept)
    await run(3000)
    expect(taken.map(({ matchId }) => matchId)).toEqual(['m2', 'm3'])
    expect(problems.map(String)).toEqual(damaged.map(([key]) => `Error: result ${key} in the store is damaged`))
    expect([outbox.pending(), outbox.setAside()]).toEqual([0, []])
  })
})

describe('a result that the backend refuses', () => {
  const chain = (outbox: ReturnType<typeof open>['outbox']) => {
    outbox.add(outcome('m1', 'ann', 'ben'))
    outbox.add(outcome('m2', 'ann', 'cas'))
    outbox.add(outcome('m3', 'cas', 'dee'))
  }
  const matchesOf = (taken: readonly Taken[]) => taken.map(({ matchId }) => matchId)
  const HOUR = 3_600_000

  test('a result refused with 4xx is set aside immediately and reported, and later results arrive', async () => {
    const { outbox, taken, problems, run } = open((matchId) => (matchId === 'm1' ? 422 : 204))
    chain(outbox)
    await run(3000)
    expect(matchesOf(taken)).toEqual(['m2', 'm3'])
    expect([outbox.pending(), outbox.asideCount()]).toEqual([0, 1])
    expect(outbox.setAside()).toMatchObject([{ matchId: 'm1', reason: 'the URL of results answered 422' }])
    expect(problems.map(String)).toEqual([expect.stringContaining('answered 422. The result is set aside')])
  })

  test('a result is set aside after ten failed attempts if the backend accepts other results', async () => {
    const { outbox, taken, run } = open((matchId) => (matchId === 'm1' ? 500 : 204))
    chain(outbox)
    outbox.add(outcome('other', 'eve'))
    let passed = 0
    for (; outbox.asideCount() === 0 && passed < HOUR; passed += 10_000) {
      await run(10_000)
      outbox.add(outcome(`later-${passed}`, 'eve'))
    }
    expect(passed).toBeGreaterThan(30_000)
    expect(passed).toBeLessThan(HOUR / 2)
    await run(3000)
    expect(matchesOf(taken).filter((matchId) => matchId.startsWith('m'))).toEqual(['m2', 'm3'])
  })

  test('a result is set aside after an hour of failures if all other results wait behind it', async () => {
    const { outbox, taken, run } = open((matchId) => (matchId === 'm1' ? 500 : 204))
    chain(outbox)
    await run(HOUR - 60_000)
    expect([taken, outbox.asideCount()]).toEqual([[], 0])
    await run(700_000)
    expect([matchesOf(taken), outbox.asideCount()]).toEqual([['m2', 'm3'], 1])
  })

  test.each(['429', '503 with Retry-After', '503'])(
    'no result is set aside by a backend that is busy (%s)',
    async (how) => {
      const perSecond = 5
      const headers = { 'retry-after': '1' }
      let [tokens, at] = [perSecond, 0]
      const { outbox, taken, run, clock } = open(() => {
        tokens = Math.min(perSecond, tokens + ((clock.now() - at) * perSecond) / 1000)
        at = clock.now()
        if (tokens < 1) return how.includes('with') ? new Response(null, { status: 503, headers }) : Number(how)
        tokens -= 1
        return 204
      })
      for (let nth = 0; nth < 1000; nth += 1) outbox.add(outcome(`m${nth}`, `p${nth}`))
      await run(HOUR / 2)
      expect([taken.length, outbox.pending(), outbox.asideCount()]).toEqual([1000, 0, 0])
    },
  )

  test('a result that gets 503 while others are accepted is set aside after an hour', async () => {
    const { outbox, run } = open((matchId) => (matchId === 'm1' ? 503 : 204))
    chain(outbox)
    for (let passed = 0; passed < HOUR; passed += 60_000) {
      expect(outbox.asideCount()).toBe(0)
      outbox.add(outcome(`later-${passed}`, 'eve'))
      await run(60_000)
    }
    await run(400_000)
    expect([outbox.pending(), outbox.asideCount()]).toEqual([0, 1])
  })

  test('a result is sent again only after the Retry-After of a busy backend', async () => {
    const sentAt: number[] = []
    const { outbox, run, clock } = open(() => {
      sentAt.push(clock.now())
      return sentAt.length === 1 ? new Response(null, { status: 429, headers: { 'retry-after': '60' } }) : 204
    })
    outbox.add(outcome('m1', 'ann'))
    await run(90_000)
    const [first = 0, second = 0] = sentAt
    expect(second - first).toBeGreaterThanOrEqual(60_000)
    expect(outbox.pending()).toBe(0)
  })

  test.each<Answer>(['away', 401, 404, 429, 503])(
    'while the backend accepts no result at all, no result is set aside (answer: %s)',
    async (answer) => {
      let isBack = false
      const { outbox, taken, run } = open(() => (isBack ? 204 : answer))
      chain(outbox)
      await run(3 * HOUR)
      isBack = true
      await run(HOUR / 4)
      expect([matchesOf(taken), outbox.asideCount()]).toEqual([['m1', 'm2', 'm3'], 0])
    },
  )

  test('any number of results that the backend never answers do not block other results', async () => {
    const { outbox, taken, run } = open((matchId) => (matchId.startsWith('hung') ? 'hangs' : 204))
    for (let nth = 0; nth < 60; nth += 1) outbox.add(outcome(`hung-${nth}`, `ann-${nth}`))
    await run(60_000)
    for (let nth = 0; nth < 60; nth += 1) outbox.add(outcome(`good-${nth}`, `ben-${nth}`))
    await run(10_000)
    expect(taken).toHaveLength(60)
  })

  test('a failed result is reported with the cause of the connection error', async () => {
    const { outbox, problems, run } = open(['away'])
    outbox.add(outcome('m1', 'ann'))
    await run(1000)
    expect(problems.map(String)).toEqual(['Error: the URL of results did not answer: connect ECONNREFUSED'])
  })

  test('a result set aside survives a restart, until it is sent again in its order or dropped', async () => {
    const kept = new Map<string, string>()
    const first = open((matchId) => (matchId === 'm2' ? 204 : 400), kept)
    chain(first.outbox)
    await first.run(3000)
    first.outbox.close()
    const { outbox, taken, run } = open([503], kept)
    expect(outbox.setAside().map(({ matchId }) => matchId)).toEqual(['m1', 'm3'])
    outbox.add({ ...outcome('m4', 'ann'), endedAt: 10 })
    expect([outbox.repeat('m1'), outbox.repeat('m1'), outbox.drop('m3'), outbox.drop('m3')]).toEqual([
      true,
      false,
      true,
      false,
    ])
    await run(5000)
    expect(matchesOf(taken)).toEqual(['m1', 'm4'])
    expect([kept.size, outbox.asideCount(), outbox.pending()]).toEqual([0, 0, 0])
  })

  test('a result that is repeated while a later one is under way is sent once at a time', async () => {
    const sent: string[] = []
    let isFixed = false
    let answer = (_status: number) => {}
    const { outbox, run, clock } = open((matchId) => {
      sent.push(matchId)
      if (matchId === 'm2') return new Promise((resolve) => (answer = resolve))
      return isFixed ? 204 : 400
    })
    outbox.add(outcome('m1', 'ann'))
    await run(1000)
    outbox.add({ ...outcome('m2', 'ann'), endedAt: 1 })
    await run(1000)
    isFixed = true
    outbox.repeat('m1')
    answer(204)
    await clock.advance(1)
    await run(3000)
    expect(sent).toEqual(['m1', 'm2', 'm1'])
  })

  test('the list of results set aside fits into an answer of the leader to another process', async () => {
    const { outbox, run } = open(() => 400)
    const data = 'x'.repeat(8000)
    const players = Array.from({ length: 500 }, (_, nth) => `a-player-of-a-large-match-${nth}`)
    for (let nth = 0; nth < 400; nth += 1)
      outbox.add({ ...outcome(`m${nth}`), playerIds: players, result: { data }, endedAt: nth })
    for (let passed = 0; outbox.asideCount() < 400 && passed < 100; passed += 1) await run(1000)
    const listed = outbox.setAside()
    expect(listed.slice(0, 2).map(({ matchId }) => matchId)).toEqual(['m0', 'm1'])
    expect(listed.length).toBeGreaterThan(100)
    expect(JSON.stringify(listed).length).toBeLessThan(5 * 2 ** 20)
  })

  test('the oldest result that was set aside is dropped when the outbox is full', async () => {
    const { outbox, kept, problems, run } = open((matchId) => (matchId === 'm1' || matchId === 'm2' ? 400 : 'away'))
    outbox.add(outcome('m1', 'ann'))
    await run(1000)
    outbox.add(outcome('m2', 'ann'))
    await run(1000)
    for (let nth = 0; nth < 49_998; nth += 1) outbox.add(outcome(`n${nth}`, `p${nth}`))
    expect(outbox.asideCount()).toBe(2)
    problems.length = 0
    outbox.add(outcome('newest', 'zoe'))
    expect(outbox.setAside().map(({ matchId }) => matchId)).toEqual(['m2'])
    expect(kept.size).toBe(50_000)
    expect(problems.map(String)).toEqual([expect.stringContaining('The oldest result that was set aside is dropped')])
  })
})

test.each([
  [{ url: 'ftp://x', secret }, 'url'],
  [{ url: 'https://x.example.com:6000/results', secret }, 'url'],
  [{ url: 'https://user:password@x.example.com', secret }, 'url'],
  [{ url: 'https://x.example.com', secret: 'short' }, 'secret'],
  [{ url: 'https://x.example.com', secret: 'whsec_c2hvcnQ=' }, 'secret'],
])('an invalid destination of results is refused by field: %j', (given, field) => {
  expect(resultsSchema.safeParse(given).error?.issues[0]?.path).toEqual([field])
})
