import { InvalidInput, NotFound, Unauthorized } from '@muster/core'
import { createManualClock, seededRandom } from '@muster/core/clock'
import { describe, expect, test } from 'vitest'
import { RelayClosed, RelayNotAuthorized, RelayNotDeleted, RelayNotReady } from '../errors.js'
import { createFakeService, type FaultRule } from '../fake-service.fixture.js'
import { within } from '../within.fixture.js'
import type { RelaySessionsOptions } from './options.js'
import type { ListedSession } from './orphans.js'
import { createRelaySessions } from './sessions.js'

const players = [
  { id: 'ann', ip: '192.0.2.1' },
  { id: 'bob', ip: '::ffff:192.0.2.1' },
  { id: 'cleo', ip: '2001:DB8::1' },
]
const dora = { id: 'dora', ip: '192.0.2.1' }

function setUp({ faults = [], ...options }: Partial<RelaySessionsOptions> & { faults?: FaultRule[] } = {}) {
  const clock = createManualClock()
  const random = seededRandom(7)
  const webhooks: string[] = []
  const service = createFakeService({ clock, random, faults, readyAfterMs: 2000, onWebhook: (url) => webhooks.push(url) })
  const sessions = createRelaySessions({ client: service, clock, randomInt: (max) => Math.floor(random() * max), ...options })
  return { clock, service, sessions, webhooks, within: <T>(promise: Promise<T>) => within(clock, promise) }
}

const failing = (promise: Promise<unknown>) => promise.then(() => 'no error', (error: unknown) => error)

describe('opening', () => {
  test('every player gets their own credentials: the server port for the host, distinct tokens behind one address', async () => {
    const { service, sessions, within } = setUp()
    const session = await within(sessions.open({ players, hostId: 'bob' }))
    const all = players.map(({ id }) => sessions.credentialsFor(session.id, id))
    expect(all.map(({ role, port }) => [role, port])).toEqual([['client', 4002], ['host', 4001], ['client', 4002]])
    expect(new Set(all.map(({ userToken }) => userToken)).size).toBe(3)
    for (const { sessionToken, userToken, host } of all) {
      expect(service.isValid(sessionToken, userToken)).toBe(true)
      expect(host).toBe('relay.example')
    }
    expect(sessions.credentialsFor(session.id, 'ann')).toEqual(all[0])
    expect(() => sessions.credentialsFor(session.id, 'eve')).toThrow(NotFound)
  })

  test('reads at 1 s, then half as late again, up to every 5 s', async () => {
    const { clock, service, sessions, within } = setUp({ faults: [{ operation: 'create', fault: 'never ready', times: 1 }] })
    const { id } = await within(sessions.create({ players }))
    const began = clock.now()
    const reads: number[] = []
    const waiting = failing(sessions.awaitReady(id))
    for (let seen = 0; clock.now() < began + 45_000; await clock.next()) {
      if (service.calls.get > seen) reads.push(clock.now() - began)
      seen = service.calls.get
    }
    expect(reads.slice(0, 6)).toEqual([1000, 2500, 4750, 8125, 13_125, 18_125])
    await within(waiting)
  })

  test('a session that is not ready after 45 s is deleted, and one more is tried', async () => {
    const { clock, service, sessions, within } = setUp({ faults: [{ operation: 'create', fault: 'never ready', times: 1 }] })
    const began = clock.now()
    const session = await within(sessions.open({ players }))
    expect(session.id).toBe('session-2')
    expect(clock.now() - began).toBeGreaterThanOrEqual(47_000)
    expect(service.open).toEqual(['session-2'])
  })

  test.each([
    ['never ready', 'not ready in time', 90_000],
    ['without tokens', 'without relay or tokens', 90_000],
    ['too few users', 'without relay or tokens', 90_000],
    ['in error', 'in error', 5000],
  ] as const)('sessions that are %s twice are an error, and nothing is left', async (fault, reason, ms) => {
    const { clock, service, sessions, within } = setUp({ faults: [{ operation: 'create', fault }] })
    const began = clock.now()
    const error = await within(failing(sessions.open({ players })))
    expect(error).toBeInstanceOf(RelayNotReady)
    expect((error as RelayNotReady).reason).toBe(reason)
    expect(clock.now() - began).toBeLessThanOrEqual(ms)
    expect(service.opened).toBe(2)
    expect(service.open).toEqual([])
  })

  test.each(['lost after', 'server error', 'lost before', 'done late'] as const)('a create that is %s makes one session in the end', async (fault) => {
    const { clock, service, sessions, within } = setUp({ faults: [{ operation: 'create', fault, times: 1 }] })
    const session = await within(sessions.open({ players }))
    await clock.advance(60_000)
    expect(service.open).toEqual([session.id])
  })

  test('a create that was refused is not repeated', async () => {
    const { service, sessions } = setUp()
    const refusing = createRelaySessions({ client: { ...service, create: () => Promise.reject(new Unauthorized('no')) }, clock: createManualClock() })
    await expect(refusing.open({ players })).rejects.toBeInstanceOf(Unauthorized)
    expect(service.calls.create).toBe(0)
    await sessions.close()
  })

  test('reads that fail are only reads that failed', async () => {
    const { sessions, within } = setUp({ faults: [{ operation: 'get', fault: 'lost before', times: 2 }] })
    expect((await within(sessions.open({ players }))).id).toBe('session-1')
  })

  test('an abort while creating or waiting leaves nothing', async () => {
    const { clock, service, sessions, within } = setUp()
    for (const ms of [0, 1500]) {
      const leaving = new AbortController()
      const opening = failing(sessions.open({ players }, { signal: leaving.signal }))
      if (ms > 0) await clock.advance(ms)
      leaving.abort(new Error('gone'))
      expect(String(await within(opening))).toBe('Error: gone')
      await clock.advance(1)
      expect(service.open).toEqual([])
    }
    expect(service.opened).toBe(2)
  })

  test.each([
    [{ players: [] }, 'players'],
    [{ players: [{ id: 'a', ip: 'localhost' }] }, 'players.0.ip'],
    [{ players: [dora, dora] }, 'players.1.id'],
    [{ players: [dora], hostId: 'ann' }, 'hostId'],
    [{ players: [dora], label: 'a/b' }, 'label'],
  ])('refuses %j, naming the field and no address', async (input, field) => {
    const error = await failing(setUp().sessions.open(input))
    expect(error).toBeInstanceOf(InvalidInput)
    expect((error as InvalidInput).field).toBe(field)
    expect(String(error)).not.toContain('192.0.2.1')
  })
})

describe('webhooks', () => {
  const post = (url: string, body = '{"ready":true}') => new Request(url.replace('https://game.example/hooks', 'http://127.0.0.1:80/anything'), { method: 'POST', body })
  const webhookBaseUrl = 'https://game.example/hooks'

  test('a hint has the session read at once, and only reading it counts', async () => {
    const { clock, service, sessions, webhooks, within } = setUp({ webhookBaseUrl, pollMs: 60_000, maxPollMs: 60_000 })
    const { id } = await within(sessions.create({ players }))
    const waiting = sessions.awaitReady(id)
    await clock.advance(2000)
    expect(service.calls.get).toBe(0)
    expect((await sessions.webhook(post(webhooks[0] as string))).status).toBe(204)
    await clock.advance(1)
    expect((await waiting).id).toBe(id)
  })

  test('early, doubled and forged ones do no harm', async () => {
    const { clock, service, sessions, webhooks, within } = setUp({ webhookBaseUrl })
    const seen: string[] = []
    const spied = { ...service, create: (input: Parameters<typeof service.create>[0]) => (seen.push(input.webhook_url as string), service.create(input)) }
    const own = createRelaySessions({ client: spied, clock, webhookBaseUrl })
    const opening = own.open({ players })
    for (let hint = 0; hint < 50; hint += 1) {
      expect((await own.webhook(post(seen[0] as string, '{"session_id":"session-9","ready":true,"session_users":[]}'))).status).toBe(204)
      await clock.advance(10)
    }
    expect(service.calls.get).toBeLessThanOrEqual(3)
    const session = await within(opening)
    expect(session.id).toBe('session-1')
    expect(service.calls.get).toBeLessThanOrEqual(4)
    expect(webhooks).toEqual(seen)
    await sessions.close()
  })

  test('unknown paths, other methods and large bodies are refused', async () => {
    const { sessions, webhooks, within } = setUp({ webhookBaseUrl })
    await within(sessions.open({ players }))
    const url = webhooks[0] as string
    expect((await sessions.webhook(post(`${url}x`))).status).toBe(404)
    expect((await sessions.webhook(post('https://game.example/hooks'))).status).toBe(404)
    expect((await sessions.webhook(new Request(url))).status).toBe(405)
    expect((await sessions.webhook(post(url, 'x'.repeat(64 * 1024 + 1)))).status).toBe(413)
  })

  test('without a public URL, sessions carry one that leads nowhere', async () => {
    const { sessions, webhooks, within } = setUp()
    await within(sessions.open({ players, label: 'lobby.1' }))
    expect(webhooks[0]).toMatch(/^https:\/\/muster\.invalid\/relay\/muster\/lobby\.1\/[A-Za-z0-9]{22}$/)
  })
})

describe('joining later', () => {
  test.each([undefined, 'lost after', 'lost before', 'server error', 'conflict after', 'token of another', 'done late'] as const)(
    'authorize gives a token of one’s own (%s)',
    async (fault) => {
      const { service, sessions, within } = setUp({ faults: fault === undefined ? [] : [{ operation: 'authorizeUser', fault, times: 1 }] })
      const { id } = await within(sessions.open({ players }))
      const session = await within(sessions.authorize(id, dora))
      const tokens = session.seats.map(({ token }) => token)
      expect(new Set(tokens).size).toBe(4)
      for (const token of tokens) expect(service.isValid(session.link.token, token)).toBe(true)
      expect((await sessions.authorize(id, dora)).seats).toEqual(session.seats)
    },
  )

  test('an answer that cannot be compared with a reading is believed if it can be right', async () => {
    const { service, sessions, within } = setUp()
    const { id } = await within(sessions.open({ players }))
    service.setFaults([{ operation: 'get', fault: 'lost before' }])
    const { seats } = await within(sessions.authorize(id, dora))
    expect(seats).toHaveLength(4)
  })

  test('two who join at once from one address get two tokens', async () => {
    const { sessions, within } = setUp({ faults: [{ operation: 'authorizeUser', fault: 'lost after' }] })
    const { id } = await within(sessions.open({ players }))
    const [, second] = await within(Promise.all([sessions.authorize(id, dora), sessions.authorize(id, { id: 'eve', ip: dora.ip })]))
    expect(new Set(second.seats.map(({ token }) => token)).size).toBe(5)
  })

  test('a player who is never let in is an error, and gets nothing', async () => {
    const { sessions, within } = setUp({ faults: [{ operation: 'authorizeUser', fault: 'conflict' }] })
    const { id } = await within(sessions.open({ players }))
    expect(await within(failing(sessions.authorize(id, dora)))).toBeInstanceOf(RelayNotAuthorized)
    expect(() => sessions.credentialsFor(id, 'dora')).toThrow(NotFound)
  })
})

describe('taking out', () => {
  test.each([undefined, 'lost after', 'lost before', 'server error', 'not done'] as const)('revoke is confirmed (%s)', async (fault) => {
    const { service, sessions, within } = setUp({ faults: fault === undefined ? [] : [{ operation: 'revokeUser', fault, times: 1 }] })
    const { id } = await within(sessions.open({ players }))
    const { sessionToken, userToken } = sessions.credentialsFor(id, 'bob')
    const session = await within(sessions.revoke(id, 'bob'))
    expect(session.id).toBe(id)
    expect(session.spent).toEqual([])
    expect(service.isValid(sessionToken, userToken)).toBe(false)
    expect(() => sessions.credentialsFor(id, 'bob')).toThrow(NotFound)
  })

  test('a session in which that cannot be confirmed is replaced by one without the player', async () => {
    const { service, sessions, within } = setUp({ faults: [{ operation: 'revokeUser', fault: 'not done' }] })
    const { id } = await within(sessions.open({ players, hostId: 'ann' }))
    const { sessionToken, userToken } = sessions.credentialsFor(id, 'ann')
    const session = await within(sessions.revoke(id, 'ann'))
    expect(session.id).not.toBe(id)
    expect(session.hostId).toBe('bob')
    expect(session.seats.map(({ id: player }) => player)).toEqual(['bob', 'cleo'])
    expect(service.open).toEqual([session.id])
    expect(service.isValid(sessionToken, userToken)).toBe(false)
  })
})

describe('nothing is forgotten', () => {
  test('a session that nobody keeps alive is deleted after 10 minutes, any after 4 hours', async () => {
    const { clock, service, sessions, within } = setUp()
    const idle = await within(sessions.open({ players }))
    const used = await within(sessions.open({ players }))
    for (let minutes = 0; minutes < 11; minutes += 1) {
      await clock.advance(60_000)
      sessions.keepAlive(used.id)
    }
    expect(service.open).toEqual([used.id])
    expect(() => sessions.keepAlive(idle.id)).toThrow(NotFound)
    for (let minutes = 11; minutes < 241; minutes += 1) {
      await clock.advance(60_000)
      if (service.open.length > 0) sessions.keepAlive(used.id)
    }
    expect(service.open).toEqual([])
    await clock.advance(60_000)
    expect(clock.sleepers).toBe(0)
  })

  test('a delete that fails is tried again until it succeeds', async () => {
    const { clock, service, sessions, within } = setUp({ faults: [{ operation: 'delete', fault: 'lost before', times: 3 }] })
    const { id } = await within(sessions.open({ players }))
    const failed: string[] = []
    sessions.events.on('deleteFailed', ({ sessionId }) => failed.push(sessionId))
    await expect(sessions.delete(id)).rejects.toThrow('the connection broke')
    expect(() => sessions.credentialsFor(id, 'ann')).toThrow(NotFound)
    await clock.advance(60_000)
    expect(failed).toEqual([id, id, id])
    expect(service.open).toEqual([])
  })

  test('sessions of a process that is gone are found by their owner, and those of others left alone', async () => {
    const { clock, service, sessions, within } = setUp()
    const mine = await within(sessions.open({ players, label: 'lobby.1' }))
    const other = createRelaySessions({ client: service, clock, owner: 'someone-else' })
    const theirs = await within(other.open({ players }))
    const restarted = createRelaySessions({ client: service, clock })
    const listed: ListedSession[] = []
    for await (const session of restarted.list()) listed.push(session)
    expect(listed).toEqual([
      { id: mine.id, ready: true, users: 3, owned: true, label: 'lobby.1', known: false },
      { id: theirs.id, ready: true, users: 3, owned: false, label: undefined, known: false },
    ])
    expect(await restarted.reapOrphans()).toEqual([])
    await clock.advance(119_000)
    expect(await restarted.reapOrphans()).toEqual([])
    await clock.advance(1000)
    expect(await restarted.reapOrphans({ isOwned: ({ label }) => label === 'lobby.1' })).toEqual([])
    await restarted.reapOrphans()
    expect(await restarted.reapOrphans({ graceMs: 0 })).toEqual([mine.id])
    expect(service.open).toEqual([theirs.id])
    await within(Promise.all([other.close(), sessions.close()]))
  })

  test('what is just being opened is no orphan', async () => {
    const { clock, service, sessions, within } = setUp()
    const opening = sessions.open({ players })
    await clock.advance(500)
    expect(service.open).toHaveLength(1)
    expect(await sessions.reapOrphans({ graceMs: 0 })).toEqual([])
    await within(opening)
  })

  test('close leaves nothing, whatever is under way', async () => {
    const { clock, service, sessions, within } = setUp({
      faults: [{ operation: 'delete', fault: 'lost before', times: 2 }, { operation: 'create', fault: 'done late', times: 1 }],
    })
    const doubtful = failing(sessions.open({ players }))
    await clock.advance(1100)
    await within(sessions.create({ players }))
    const waiting = failing(sessions.open({ players }))
    await clock.advance(100)
    await within(sessions.close())
    expect(await waiting).toBeInstanceOf(RelayClosed)
    expect(await doubtful).toBeInstanceOf(RelayClosed)
    expect(service.open).toEqual([])
    await clock.advance(5000) // the service's own timers
    expect(clock.sleepers).toBe(0)
    await expect(sessions.open({ players })).rejects.toBeInstanceOf(RelayClosed)
    await sessions.close()
  })

  test('close says what may be left when the service does not delete it', async () => {
    const { sessions, within } = setUp({ faults: [{ operation: 'delete', fault: 'lost before' }] })
    const { id } = await within(sessions.open({ players }))
    const error = await within(failing(sessions.close({ timeoutMs: 5000 })))
    expect(error).toBeInstanceOf(RelayNotDeleted)
    expect((error as RelayNotDeleted).sessionIds).toEqual([id])
  })
})

test('a session can be handed from one process to another', async () => {
  const { clock, service, sessions, within } = setUp()
  const session = await within(sessions.open({ players }))
  sessions.release(session.id)
  expect(sessions.get(session.id)).toBeUndefined()
  await sessions.close()
  expect(service.open).toEqual([session.id])
  const other = createRelaySessions({ client: service, clock })
  other.adopt(structuredClone(session))
  expect(other.credentialsFor(session.id, 'ann')).toMatchObject({ role: 'host', port: 4001 })
  await within(other.authorize(session.id, dora))
  await within(other.close())
  expect(service.open).toEqual([])
})

test.each([
  [{ client: {} as never }, 'client'],
  [{ owner: 'a/b' }, 'owner'],
  [{ webhookBaseUrl: 'ftp://x' }, 'webhookBaseUrl'],
  [{ webhookBaseUrl: 'https://x.example/?a' }, 'webhookBaseUrl'],
  [{ readyTimeoutMs: 0 }, 'readyTimeoutMs'],
  [{ tickms: 5 } as never, 'tickms'],
])('an option that cannot be is refused by name: %j', (options, field) => {
  const service = createFakeService({ clock: createManualClock(), random: seededRandom(1) })
  expect(() => createRelaySessions({ client: service, ...options })).toThrow(expect.objectContaining({ name: 'InvalidInput', field }))
})
