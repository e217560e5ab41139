import { createManualClock } from '@muster/core/clock'
import { describe, expect, test } from 'vitest'
import { createGameServer, type GameServerOptions, type ServeHandlers } from './game-server.js'
import { signJoinToken } from './join-token.js'

const env = { MUSTER_URL: 'http://muster.example/api/', MUSTER_SERVER_TOKEN: 'm1.secret' }
const START = Date.parse('2026-11-26T12:00:00Z')

interface Asked {
  readonly at: number
  readonly line: string
  readonly body: Record<string, unknown>
  readonly answer: (status: number, body?: object | string, headers?: Record<string, string>) => void
}

const orders = (more: object = {}) => ({ version: 7, want: 'run', matches: [], ...more })
const registered = (more: object = {}) => ({ ...orders(more), id: 'm1', alg: 'HS256', key: 'AAAA', retire_at: null })
const match = (id: string, ...players: string[]) => ({
  id,
  profile: 'duel',
  teams: [{ name: '', players: players.map((one) => ({ id: one, ticket_id: `t-${one}` })) }],
})

/** Creates a server whose requests the test answers, on a clock that the test moves. */
function setUp(handlers: ServeHandlers = {}, options: GameServerOptions = {}) {
  const clock = createManualClock({ start: START })
  const asked: Asked[] = []
  const problems: string[] = []
  const server = createGameServer({
    env,
    clock,
    random: () => 1,
    handleSignals: false,
    onProblem: ({ message }) => problems.push(message),
    fetch: (url, init) =>
      new Promise((resolve, reject) => {
        init?.signal?.addEventListener('abort', () => reject(init.signal?.reason))
        asked.push({
          at: clock.now() - START,
          line: `${init?.method} ${String(url).replace('http://muster.example/api', '')}`,
          body: JSON.parse(String(init?.body)) as Record<string, unknown>,
          answer: (status, body = '', headers = {}) =>
            resolve(new Response(typeof body === 'string' ? body : JSON.stringify(body), { status, headers })),
        })
      }),
    ...options,
  })
  let isDone = false
  void server.serve(handlers).then(() => (isDone = true))
  const last = () => asked.at(-1) as Asked
  const answer = async (...given: Parameters<Asked['answer']>) => {
    last().answer(...given)
    await clock.advance(0)
  }
  /** Starts a registered server whose first report was answered, so that it is in the long poll. */
  const start = async (more: object = {}) => {
    await clock.advance(0)
    await answer(201, registered(more))
    await clock.advance(200)
    await answer(200, orders(more))
    await clock.advance(200)
  }
  return { clock, server, asked, problems, last, answer, start, isDone: () => isDone }
}

test('a game server registers, reports its whole state, and then waits for new orders', async () => {
  const { asked, start } = setUp({}, { build: '1.0', matches: 3, attributes: { map: 'dust' } })
  await start()
  expect(asked.map(({ line }) => line)).toEqual([
    'POST /servers',
    'PUT /servers/me',
    'PUT /servers/me?wait=10&version=7',
  ])
  expect(asked[0]?.body).toEqual({
    instance: expect.any(String),
    build: '1.0',
    matches: 3,
    attributes: { map: 'dust' },
  })
  expect(asked[2]?.body).toEqual({
    instance: asked[0]?.body['instance'],
    seq: 2,
    healthy: true,
    draining: false,
    matches: [],
    attributes: { map: 'dust' },
  })
})

test('the first three reports of a game server can be immediate, later reports are 200 ms apart', async () => {
  const served = { matches: [match('m7', 'ann', 'ben')] }
  const { clock, asked, answer } = setUp({ match: () => {} })
  await clock.advance(0)
  await answer(201, registered())
  await answer(200, orders())
  await answer(200, orders({ version: 8, ...served }))
  await answer(200, orders({ version: 8, ...served }))
  await clock.advance(1000)
  expect(asked.map(({ at }) => at)).toEqual([0, 0, 0, 0, 200])
  expect(asked[3]?.body['matches']).toMatchObject([{ id: 'm7', status: 'open' }])
})

test('a game server sends at most 50 requests in 5 s, for any answers of Muster', async () => {
  for (const statuses of [[200], [200, 409], [409]]) {
    const { clock, asked, last } = setUp()
    let reports = 0
    for (let answered = 0; clock.now() < START + 5000; await clock.advance(10))
      for (; answered < asked.length; answered += 1) {
        if (last().line.startsWith('POST')) last().answer(201, registered())
        else last().answer(statuses[reports++ % statuses.length] as number, orders({ version: asked.length }))
        await clock.advance(0)
      }
    // A registration whose first report is refused is repeated with growing pauses.
    const [least, most] = statuses.includes(200) ? [20, 50] : [4, 10]
    expect(asked.length).toBeGreaterThan(least)
    expect(asked.length).toBeLessThanOrEqual(most)
  }
})

test('a change on a game server ends its wait for orders, and rapid changes share one report', async () => {
  const { server, clock, asked, last, start, answer } = setUp()
  await start({ matches: [match('m7', 'ann', 'ben')] })
  await answer(200, orders({ version: 8, matches: [match('m7', 'ann', 'ben')] }))
  await clock.advance(1000)
  const before = asked.length
  const at = clock.now() - START
  const over = server.matches.get('m7')?.over({ ranking: [['ann'], ['ben']] })
  server.matches.get('m7')?.seats({ open: false })
  server.list({ name: 'x', seats: 2 })
  await clock.advance(0)
  expect(asked.length).toBe(before + 1)
  expect(last()).toMatchObject({ at, line: 'PUT /servers/me' })
  expect(last().body['matches']).toMatchObject([
    { id: 'm7', status: 'over', result: { ranking: [['ann'], ['ben']] }, players: { ann: 'left', ben: 'left' } },
  ])
  expect(last().body['listing']).toEqual({ name: 'x', seats: 2, players: {} })
  let isTold = false
  void over?.then(() => (isTold = true))
  await clock.advance(0)
  expect(isTold).toBe(false)
  await answer(200, orders({ version: 9 }))
  expect(isTold).toBe(true)
  expect(server.matches.size).toBe(0)
  // Two changes within 200 ms: the second one is sent once they have passed.
  server.list({ name: 'y', seats: 2 })
  await clock.advance(199)
  expect(last().body['listing']).toMatchObject({ name: 'x' })
  await clock.advance(1)
  expect(last().body['listing']).toMatchObject({ name: 'y' })
})

describe('an answer without orders', () => {
  test('failed reports cause a pause that grows to 15 s, respects Retry-After, and ends after an answer', async () => {
    const { clock, asked, answer, start, problems } = setUp()
    await start()
    const pauses: number[] = []
    for (const [status, headers] of [
      [503],
      [503],
      [502],
      [500],
      [503],
      [503],
      [429, { 'retry-after': '40' }],
    ] as const) {
      const at = clock.now()
      const before = asked.length
      await answer(status, '<html>no</html>', headers)
      while (asked.length === before) await clock.next()
      pauses.push(clock.now() - at)
    }
    expect(pauses).toEqual([500, 1000, 2000, 4000, 8000, 15_000, 40_000])
    expect(new Set(problems)).toHaveLength(4)
    await answer(200, orders())
    await clock.advance(200)
    const before = asked.length
    await answer(503)
    await clock.advance(500)
    expect(asked.length).toBe(before + 1)
  })

  test('a failed report is reported in a sentence that says what is wrong and does not contain the token', async () => {
    const { answer, start, problems, clock } = setUp()
    await start()
    await answer(401, { detail: 'no' })
    await clock.advance(500)
    await answer(400, { field: 'matches.0.status', detail: 'must be one of …' })
    await clock.advance(1000)
    await answer(200, '<html>Sign in</html>')
    await clock.advance(2000)
    // No response at all: the wait, and the timeout of ten seconds.
    await clock.advance(20_000)
    expect(problems).toEqual([
      'Muster does not know MUSTER_SERVER_TOKEN (401).',
      'Muster refuses a report (400, matches.0.status): must be one of …',
      'The answer of MUSTER_URL is not from Muster (200): is there a proxy in between?',
      'Muster does not answer. The game continues; the state is sent once Muster answers.',
    ])
    expect(problems.join()).not.toContain('m1.secret')
  })

  test('a game server does not take a proxy’s answer with status 200 as confirmation of a result', async () => {
    const { answer, start, clock, server } = setUp()
    await start({ matches: [match('m7', 'ann', 'ben')] })
    let isTold = false
    void server.matches
      .get('m7')
      ?.over()
      .then(() => (isTold = true))
    await clock.advance(200)
    await answer(200, '<html>Sign in</html>')
    expect(isTold).toBe(false)
    await clock.advance(500)
    await answer(200, orders({ version: 8 }))
    expect(isTold).toBe(true)
  })

  test('the answer of a restarted Muster makes the game server register and report everything again', async () => {
    const { answer, start, clock, last, asked, server } = setUp()
    await start({ matches: [match('m7', 'ann', 'ben')] })
    await answer(200, orders({ version: 8, matches: [match('m7', 'ann', 'ben')] }))
    await clock.advance(200)
    await answer(409, { code: 'server-not-registered' })
    await clock.advance(200)
    expect(last().line).toBe('POST /servers')
    await answer(200, registered({ matches: [match('m7', 'ann', 'ben')] }))
    await clock.advance(200)
    expect(last().body['matches']).toMatchObject([{ id: 'm7', status: 'open' }])
    expect(server.matches.size).toBe(1)
    expect(new Set(asked.map(({ body }) => body['instance'])).size).toBe(1)
  })

  test('an answer that the server is gone stops the process, with its grace period', async () => {
    const stops: [string, number][] = []
    const { answer, start, clock, isDone, server } = setUp({
      stop: async (reason, until) => {
        stops.push([reason, until.getTime() - clock.now()])
        await clock.sleep(3000)
      },
    })
    await start()
    await answer(410, { detail: 'This server is no longer needed. End its process.' })
    expect(stops).toEqual([['This server is no longer needed. End its process.', 25_000]])
    expect(server.status).toBe('STOPPING')
    await clock.advance(2999)
    expect(isDone()).toBe(false)
    await clock.advance(1)
    expect(isDone()).toBe(true)
  })

  test('a game server waits for a stop handler that hangs only until the grace period is over', async () => {
    const { answer, start, clock, isDone } = setUp({ stop: () => new Promise(() => {}) }, { graceMs: 5000 })
    await start()
    await answer(200, orders({ version: 8, want: 'stop' }))
    await clock.advance(5000)
    expect(isDone()).toBe(true)
  })
})

test('a match that Muster has ended is aborted in the game', async () => {
  const { answer, start, clock, server } = setUp()
  await start({ matches: [match('m7', 'ann', 'ben')] })
  const signal = server.matches.get('m7')?.signal as AbortSignal
  await answer(200, orders({ version: 9 }))
  expect(signal.reason).toMatchObject({ message: 'Muster has ended the match.' })
  await clock.advance(0)
  expect(server.status).toBe('IDLE')
})

test('a health check that takes more than 5 s or throws counts as unhealthy', async () => {
  let health: () => Promise<boolean> = () => new Promise(() => {})
  const { clock, last, problems, asked, answer } = setUp({}, { health: () => health() })
  await clock.advance(0)
  await answer(201, registered())
  await clock.advance(200)
  expect(asked).toHaveLength(1)
  await clock.advance(5000)
  expect(last().body).toMatchObject({ healthy: false })
  health = () => Promise.reject(new Error('the simulation stands still'))
  await answer(200, orders())
  await clock.advance(200)
  expect(last().body).toMatchObject({ healthy: false })
  expect(problems).toEqual(['the simulation stands still'])
})

test('a game server reports an error in a handler as a problem, and the match continues', async () => {
  const { start, answer, problems, server } = setUp({
    joined: () => {
      throw new Error('no room in the model')
    },
  })
  await start({ matches: [match('m7', 'ann')] })
  await answer(200, orders({ version: 9, matches: [match('m7', 'ann', 'cat')] }))
  expect(problems).toEqual(['no room in the model'])
  expect([...(server.matches.get('m7')?.players.keys() ?? [])]).toEqual(['ann', 'cat'])
})

test('a server whose clock is an hour off accepts and expires tokens by the time of Muster', async () => {
  const key = new Uint8Array(32).fill(7)
  const HOUR_MS = 3_600_000
  const claims = { aud: 'm1', sub: 'ann', mid: 'm7', sid: 't-ann' }
  for (const aheadMs of [HOUR_MS, -HOUR_MS]) {
    const { clock, server, answer } = setUp()
    const date = () => ({ date: new Date(clock.now() + aheadMs).toUTCString() })
    await clock.advance(0)
    const matches = [match('m7', 'ann')]
    await answer(201, { ...registered({ matches }), key: Buffer.from(key).toString('base64url') }, date())
    await clock.advance(200)
    const expired = signJoinToken(claims, key, clock.now() + aheadMs - 400_000)
    await expect(server.admit(expired)).rejects.toMatchObject({ code: 'expired' })
    expect(await server.admit(signJoinToken(claims, key, clock.now() + aheadMs))).toMatchObject({ id: 'ann' })
  }
})

test('a game server waits 2 s for the orders with the seat of a token before it refuses the token', async () => {
  const key = new Uint8Array(32).fill(7)
  const { clock, server, answer } = setUp()
  await clock.advance(0)
  await answer(201, { ...registered(), key: Buffer.from(key).toString('base64url') })
  await clock.advance(200)
  const token = signJoinToken({ aud: 'm1', sub: 'ann', mid: 'm7', sid: 't-ann' }, key, clock.now())
  const admitted = server.admit(token)
  await clock.advance(500)
  await answer(200, orders({ version: 8, matches: [match('m7', 'ann')] }))
  expect(await admitted).toMatchObject({ id: 'ann', matchId: 'm7' })
  const stranger = server.admit(signJoinToken({ aud: 'm1', sub: 'eve', mid: 'm7', sid: 't-eve' }, key, clock.now()))
  let refused: unknown
  stranger.catch((error: unknown) => (refused = error))
  await clock.advance(1999)
  expect(refused).toBeUndefined()
  await clock.advance(1)
  expect(refused).toMatchObject({ code: 'other-match' })
})

test('a report omits players who have left and are no longer in the orders', async () => {
  const { server, clock, start, last, answer } = setUp()
  const matches = [match('m7', 'ann', 'ben')]
  await start({ matches })
  server.left('ann')
  await clock.advance(200)
  const reported = () => (last().body['matches'] as readonly { readonly players: object }[])[0]?.players
  expect(reported()).toEqual({ ann: 'left' })
  await answer(200, orders({ version: 8, matches: [match('m7', 'ben', 'cas')] }))
  await clock.advance(200)
  expect(reported()).toEqual({})
  // A ranking may contain players who have left.
  void server.matches.get('m7')?.over({ ranking: [['cas'], ['ann']] })
  await clock.advance(200)
  expect(reported()).toEqual({ cas: 'left', ann: 'left' })
})

test('orders in which optional members are null are orders without these members', async () => {
  const { server, answer, last, clock, start } = setUp()
  await start()
  await answer(200, orders({ version: 8, reason: null, listing: null, host: null, knock: null }))
  await clock.advance(200)
  expect(last().line).toBe('PUT /servers/me?wait=10&version=8')
  expect(server.status).toBe('IDLE')
})

test('a game server reports what an async handler rejects with, and continues although onProblem fails', async () => {
  const told: string[] = []
  const warned: string[] = []
  const listen = ({ message }: Error) => void warned.push(message)
  process.on('warning', listen)
  const { clock, last, answer, start } = setUp(
    {
      joined: async () => {
        throw new Error('no map')
      },
      draining: () => {
        throw new Error('no drain')
      },
    },
    {
      onProblem: ({ message }) => {
        told.push(message)
        if (message === 'no map') return Promise.reject(new Error('no log')) as never
        throw new Error('no disk')
      },
    },
  )
  await start({ matches: [match('m7', 'ann', 'ben')] })
  await answer(200, orders({ version: 8, matches: [match('m7', 'ann', 'ben', 'cas')] }))
  await clock.advance(200)
  await answer(200, orders({ version: 9, want: 'drain', matches: [match('m7', 'ann', 'ben', 'cas')] }))
  await clock.advance(200)
  process.off('warning', listen)
  expect(last().body['draining']).toBe(true)
  expect(told).toEqual(['no map', 'no drain'])
  expect(warned).toEqual(['no log', 'no disk'])
})

test('later changes of the attributes that a game server was given have no effect', async () => {
  const attributes: Record<string, string> = { map: 'dust' }
  const { asked, start } = setUp({}, { attributes })
  attributes['map'] = 'x'.repeat(300)
  await start()
  expect(asked.map(({ body }) => body['attributes'])).toEqual([{ map: 'dust' }, { map: 'dust' }, { map: 'dust' }])
})
