import type { Hello, HistoryStep, Now } from '@muster/console/internal'
import { describe, expect, test } from 'vitest'
import { openConsole } from '../open-console.fixture.js'

async function open(options?: Parameters<typeof openConsole>[0]) {
  const world = await openConsole(options)
  const join = (id: string, skill = 0) =>
    world.matchmaker.createTicket({
      id,
      queue: 'duel',
      players: [
        {
          id: `player-${id}`,
          ip: '198.51.100.7',
          coordinates: { latitude: 59.9, longitude: 10.7 },
          attributes: { skill },
        },
      ],
    })
  world.matchmaker.start()
  return { ...world, join }
}

describe('the console feed', () => {
  test('the console feed starts with the caller’s name and role, and then sends the state twice a second', async () => {
    const { listen, clock, join, errors } = await open({
      spending: () => ({ maxServers: 20, maxCreatesPerMinute: Infinity, pricePerMinute: 0.002, currency: 'EUR' }),
    })
    await clock.advance(3000)
    const feed = await listen('looker')
    expect(feed.headers['content-type']).toBe('text/event-stream; charset=utf-8')
    const hello = await feed.until<Hello>('hello')
    expect(hello).toMatchObject({
      name: 'arena',
      version: '1.2.3',
      who: 'lou',
      role: 'look',
      bots: false,
      store: 'memory',
      at: hello.startedAt + 3000,
      history: { step: 10_000, length: 0, missing: ['The program has collected figures for only less than a minute.'] },
    })
    const empty = await feed.until<Now>('now')
    expect(empty).toMatchObject({
      ready: { is: true, why: [] },
      queues: [{ name: 'duel', paused: false, tickets: 0, players: 0, oldest: null, waitP50: null }],
      map: { seen: true, waiting: [], nowhere: 0, servers: [] },
      forming: [],
      servers: { most: 20, mostCreatesPerMinute: null, money: { perHourNow: 0, currency: 'EUR' } },
    })
    join('ann', 0)
    join('ben', 500)
    await clock.advance(500)
    const waiting = await feed.until<Now>('now')
    expect(waiting.at).toBe(empty.at + 500)
    expect(waiting.queues[0]).toMatchObject({ tickets: 2, players: 2, arrivalsPerMinute: 2, oldest: 500 })
    expect(waiting.map.waiting).toEqual([{ latitude: 58.5, longitude: 10.5, players: 2, oldest: 500 }])
    expect(errors).toEqual([])
  })

  test('the console feed follows a match from forming to its server, with its cost', async () => {
    const { listen, clock, join } = await open({
      spending: () => ({ maxServers: 20, maxCreatesPerMinute: 60, pricePerMinute: 0.6, currency: 'EUR' }),
    })
    const feed = await listen('operator')
    const latest = async (ms: number) => {
      let state: Now | undefined
      for (const end = clock.now() + ms; clock.now() < end; state = await feed.until<Now>('now')) {
        await clock.advance(500)
      }
      return state as Now
    }
    await feed.until('now')
    join('ann')
    join('ben')
    const forming = await latest(1000)
    expect(forming.forming).toMatchObject([
      { queue: 'duel', phase: 'starting', players: 2, spot: { latitude: 58.5, longitude: 10.5 } },
    ])
    expect(forming.servers.byState).toContainEqual({ state: 'starting', count: 1 })
    expect(forming.queues[0]).toMatchObject({ matchesPerMinute: 1, players: 0 })
    const running = await latest(9000)
    expect(running.forming).toEqual([])
    expect(running.map.servers).toMatchObject([{ city: expect.any(String), starting: 0, running: 1, players: 2 }])
    expect(running.servers).toMatchObject({ createsPerMinute: 1, mostCreatesPerMinute: 60 })
    expect(running.servers.money).toMatchObject({ perHourNow: 36 })
    const { lastHour = 0 } = running.servers.money ?? {}
    expect(lastHour).toBeGreaterThan(0.08)
    expect(lastHour).toBeLessThan(0.11)
    expect(running.queues[0]?.waitP50).toBeLessThan(400)
    const later = await latest(60_000)
    expect(later.queues[0]).toMatchObject({ matchesPerMinute: 0, arrivalsPerMinute: 0 })
    expect(later.queues[0]?.waitP50).toBe(running.queues[0]?.waitP50)
  })

  test('the console feed reports in its first state whether Muster is ready', async () => {
    const why = ['the store cannot be written']
    const { listen } = await open({ ready: async () => ({ is: false, why }) })
    const feed = await listen('looker')
    expect(await feed.until<Now>('now')).toMatchObject({ ready: { is: false, why } })
  })

  test('the console feed shows a private match as a match that does not count for wait times', async () => {
    const { listen, clock, matchmaker } = await open()
    const feed = await listen('looker')
    await feed.until('now')
    const players = ['ann', 'ben'].map((id) => ({ id, ip: '198.51.100.7', attributes: { skill: 0 } }))
    matchmaker.createMatch({ queue: 'duel', teams: [{ name: 'team', players }] })
    await clock.advance(500)
    const { queues } = await feed.until<Now>('now')
    expect(queues).toMatchObject([{ matchesPerMinute: 1, waitP50: null, waitP95: null }])
  })

  test('the console feed sends a history step every ten seconds, and the last hour to new readers', async () => {
    const { listen, clock, join } = await open()
    const feed = await listen('looker')
    join('ann')
    join('ben')
    join('cem', 5000)
    await clock.advance(10_000)
    const step = await feed.until<HistoryStep>('step')
    expect(step).toMatchObject({ queues: [{ name: 'duel', players: 1, arrivals: 3, matches: 1 }], servers: 1 })
    expect(step.queues[0]?.waitP50).toBeLessThan(400)
    await clock.advance(3_600_000)
    const { history } = await (await listen('looker')).until<Hello>('hello')
    expect(history).toMatchObject({ length: 360, missing: [], from: step.at + 10_000 })
    expect(history.queues[0]?.players).toHaveLength(360)
    expect(history.queues[0]?.waitP50.every((wait) => wait === null)).toBe(true)
  })

  test('the console feed is not computed while there is no reader', async () => {
    let asked = 0
    const { listen, clock } = await open({
      ready: () => {
        asked += 1
        return { is: false, why: ['The service cannot be reached.'] }
      },
    })
    await clock.advance(60_000)
    expect(asked).toBe(0)
    const feed = await listen('looker')
    expect(await feed.until<Now>('now')).toMatchObject({ ready: { is: false } })
    feed.close()
    // The server learns within a few turns of the event loop that the client is gone.
    let before = -1
    while (before !== asked) {
      before = asked
      await clock.advance(500)
    }
    const ended = asked
    await clock.advance(60_000)
    expect(asked).toBe(ended)
  })

  test('the console feed shows each problem once, in words, without addresses', async () => {
    const { listen, clock, matchmaker } = await open({
      matchmaker: { locate: () => Promise.reject(new Error('no answer for 198.51.100.7')) },
    })
    const feed = await listen('looker')
    await feed.until<Now>('now')
    for (const [index, id] of ['ann', 'ben', 'cem'].entries()) {
      const players = [{ id, ip: '198.51.100.7', attributes: { skill: index * 1000 } }]
      matchmaker.createTicket({ id, queue: 'duel', players })
    }
    await clock.advance(500)
    const now = await feed.until<Now>('now')
    expect(now.problems).toMatchObject([
      { text: expect.stringMatching(/^The place of a player could not be found: /), count: 3, matchId: null },
    ])
    expect(now.map.nowhere).toBe(3)
    expect(JSON.stringify(now)).not.toContain('198.51')
  })

  test('the console feed explains why no more servers are created', async () => {
    const { listen, clock, join } = await open({ matchmaker: { maxServers: 1 } })
    for (const id of ['ann', 'ben', 'cem', 'dan']) join(id)
    await clock.advance(2000)
    const now = await (await listen('looker')).until<Now>('now')
    expect(now.problems[0]?.text).toMatch(/^No more servers are created: maxServers is reached/)
    expect(now.queues[0]).toMatchObject({ tickets: 2 })
  })

  test('the console feed of a follower shows the data of the leader, and what is missing', async () => {
    let fails = false
    const { listen, clock, join, errors } = await open({
      shown: (plain) => ({
        ...plain,
        on: () => () => {},
        survey: () => undefined,
        inspect: async () => {
          if (fails) throw new Error('nobody leads')
          return plain.inspect()
        },
      }),
      unseen: () => ['Events are seen by the process that leads.'],
    })
    for (const [index, id] of ['ann', 'ben', 'cem', 'dan'].entries()) join(id, index < 2 ? 0 : index * 1000)
    await clock.advance(20_000)
    const feed = await listen('looker')
    const { history } = await feed.until<Hello>('hello')
    expect(history.missing.slice(1)).toEqual([
      'Another process makes the matches, so waiting players, arrivals and matches are not shown here.',
      'Events are seen by the process that leads.',
    ])
    const now = await feed.until<Now>('now')
    const notCounted = { arrivalsPerMinute: null, matchesPerMinute: null }
    expect(now.queues[0]).toMatchObject({ tickets: 2, players: 2, relaxed: [], ...notCounted })
    expect(now.servers.createsPerMinute).toBeNull()
    expect(history.queues[0]).toMatchObject({ arrivals: [null, null], matches: [null, null] })
    expect(now.map).toMatchObject({ seen: false, waiting: [], nowhere: 0, servers: [{ running: 1 }] })
    fails = true
    await clock.advance(6000)
    expect((await feed.until<Now>('now')).queues[0]).toMatchObject({ players: 2 })
    expect(errors).toMatchObject([{ message: 'nobody leads' }])
  })

  test('the console feed ends with a last message when the console closes', async () => {
    const { listen, console } = await open()
    const feed = await listen('looker')
    await feed.until('now')
    await console.close()
    await feed.until('bye')
    await expect(feed.next()).rejects.toThrow('the feed has ended')
    expect((await listen('looker')).status).toBe(503)
  })
})

describe('an attack on the console feed', () => {
  test('a console feed request without a token in the header gets no data', async () => {
    const { ask } = await open()
    const refused = [
      await ask('/console/api/feed'),
      await ask('/console/api/feed', { token: 'guessed' }),
      await ask('/console/api/feed?token=looker'),
      await ask('/console/api/feed?access_token=looker'),
      await ask('/console/api/feed', { headers: { cookie: 'token=looker' } }),
    ]
    for (const { status, body } of refused) {
      expect(status).toBe(401)
      expect(body).toMatchObject({ code: 'unauthorized' })
    }
    expect(await ask('/console/api/feed?token=looker', { token: 'looker' })).toMatchObject({ status: 400 })
  })

  test.each([
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { origin: 'http://127.0.0.1:1' },
    { host: 'evil.example' },
    { host: 'evil.example', origin: 'http://evil.example', 'sec-fetch-site': 'same-origin' },
  ])('a console feed request from a page of another site is refused: %j', async (headers) => {
    const { ask } = await open()
    const answer = await ask('/console/api/feed', { token: 'operator', headers: headers as Record<string, string> })
    expect(answer.status).toBe('host' in headers ? 421 : 403)
    expect(answer.headers['access-control-allow-origin']).toBeUndefined()
  })

  test('a caller can open at most 8 console feeds', async () => {
    const { listen } = await open()
    for (let count = 0; count < 8; count += 1) await (await listen('looker')).until('hello')
    expect(await listen('looker')).toMatchObject({ status: 429 })
    expect((await listen('operator')).status).toBe(200)
  })

  test('an address that guesses tokens of the console feed is rate-limited', async () => {
    const { ask } = await open({ limitsOfRequests: { perAddress: { limit: 10, windowMs: 60_000 } } })
    const statuses: number[] = []
    for (let count = 0; count < 15; count += 1) {
      statuses.push((await ask('/console/api/feed', { token: `g${count}` })).status)
    }
    expect(statuses).toEqual([...Array<number>(10).fill(401), ...Array<number>(5).fill(429)])
  })
})
