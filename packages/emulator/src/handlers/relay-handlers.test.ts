import { seededRandom } from '@muster/core/clock'
import { describe, expect, test } from 'vitest'
import { started } from '../emulator.fixture.js'
import type { EmulatorOptions } from '../options.js'

interface User {
  readonly ip_address: string
  readonly authorization_token: number | null
}
interface Session {
  readonly session_id: string
  readonly authorization_token: number | null
  readonly session_users: readonly User[]
  readonly session_user: User
}

const users = [{ ip: '192.0.2.1' }, { ip: '198.51.100.7' }, { ip: '192.0.2.1' }]
const sessions = '/v1/relays/sessions'

function relays(options: EmulatorOptions = {}) {
  const made = started({ relays: { readyMs: 2000 }, ...options })
  const { call, clock } = made
  const post = (fields: object = {}) => call('POST', sessions, { users, ...fields })
  const open = async (fields?: object) => ((await post(fields)).body as Session).session_id
  const read = async (id: string) => (await call('GET', `${sessions}/${id}`)).body as Session
  const ready = async (fields?: object) => {
    const id = await open(fields)
    await clock.advance(2000)
    return read(id)
  }
  const authorize = (session_id: string, user_ip: string) =>
    call('POST', `${sessions}:authorize-user`, { session_id, user_ip })
  const revoke = (session_id: string, authorization_token: number | null | undefined) =>
    call('POST', `${sessions}:revoke-user`, { session_id, authorization_token })
  return { ...made, post, open, read, ready, authorize, revoke }
}

test('a new relay session has no relay, no tokens and no users', async () => {
  const { clock, post, read } = relays()
  const created = await post({ webhook_url: 'http://127.0.0.1/relay' })
  const { session_id } = created.body as Session
  const initializing = {
    session_id,
    authorization_token: null,
    status: 'Initializing',
    ready: false,
    linked: false,
    error: null,
    session_users: [],
    relay: null,
    webhook_url: 'http://127.0.0.1/relay',
  }
  expect(created).toMatchObject({ status: 200, body: initializing })
  await clock.advance(1999)
  expect(await read(session_id)).toEqual(initializing)
})

test('a relay session becomes ready near its users, each with a distinct token, even at one address', async () => {
  const here = { latitude: 35.7, longitude: 139.7 }
  const session = await relays({ locate: () => here }).ready()
  const port = (number: number) => ({ port: number, protocol: 'UDP', link: `relay-tokyo.emulator.invalid:${number}` })
  const token = expect.toSatisfy((value: number) => Number.isInteger(value) && value > 0 && value < 2 ** 32)
  expect(session).toEqual({
    session_id: session.session_id,
    authorization_token: token,
    status: 'READY',
    ready: true,
    linked: true,
    error: null,
    session_users: users.map(({ ip }) => ({ ip_address: ip, ...here, authorization_token: token })),
    relay: {
      ip: expect.stringMatching(/^192\.0\.2\.\d+$/),
      host: 'relay-tokyo.emulator.invalid',
      ports: { server: port(30_000), client: port(30_001) },
    },
    webhook_url: null,
  })
  const tokens = [session, ...session.session_users].map(({ authorization_token }) => authorization_token)
  expect(new Set(tokens).size).toBe(4)
})

test('relay tokens use all of their 32 bits', async () => {
  const { ready } = relays({ random: seededRandom(5) })
  const session = await ready({ users: Array.from({ length: 100 }, () => ({ ip: '192.0.2.1' })) })
  const tokens = session.session_users.map(({ authorization_token }) => authorization_token as number)
  expect(new Set(tokens).size).toBe(100)
  expect(Math.max(...tokens)).toBeGreaterThan(2 ** 31)
})

test('speed shortens the wait for a ready relay session, whose status is configurable', async () => {
  const { clock, open, read } = relays({ speed: 10, relays: { readyMs: 2000, readyStatus: 'Linked' } })
  const id = await open()
  await clock.advance(200)
  expect(await read(id)).toMatchObject({ ready: true, status: 'Linked' })
})

test('filters choose the relay, or the answer is 503 if none fits and 400 if a filter is wrong', async () => {
  const { post, ready } = relays()
  const filter = (field: string, value: string) => ({ filters: [{ field, filter_type: 'any', values: [value] }] })
  expect(await ready(filter('country', 'Chile'))).toMatchObject({ relay: { host: 'relay-santiago.emulator.invalid' } })
  expect(await post(filter('country', 'Atlantis'))).toMatchObject({
    status: 503,
    body: { message: 'no relay is available' },
  })
  expect(await post(filter('planet', 'Mars'))).toMatchObject({
    status: 400,
    body: { message: expect.stringContaining('filters[0].field') },
  })
  expect((await post({ users: [] })).status).toBe(400)
})

describe('users of a relay session', () => {
  test('relay session users are authorized one by one', async () => {
    const { authorize, read, ready } = relays()
    const { session_id, session_users, ...session } = await ready()
    const answer = await authorize(session_id, '192.0.2.1')
    const { session_user } = answer.body as Session
    expect(answer.body).toEqual({
      ...session,
      session_id,
      session_user: { ...session_users[0], authorization_token: expect.any(Number) },
    })
    expect((await read(session_id)).session_users).toEqual([...session_users, session_user])
    expect(new Set([...session_users, session_user].map(({ authorization_token }) => authorization_token)).size).toBe(4)
  })

  test('relay session users are refused before the session is ready', async () => {
    const { authorize, open } = relays()
    expect(await authorize(await open(), '192.0.2.1')).toMatchObject({
      status: 409,
      body: { message: 'the relay session is not ready yet' },
    })
    expect((await authorize('none', '192.0.2.1')).status).toBe(404)
  })

  test('relay session users are revoked by token', async () => {
    const { read, ready, revoke } = relays()
    const { session_id, session_users, authorization_token } = await ready()
    const token = session_users[2]?.authorization_token
    expect(await revoke(session_id, token)).toMatchObject({
      status: 200,
      body: { session_id, session_users: session_users.slice(0, 2) },
    })
    expect((await read(session_id)).session_users).toEqual(session_users.slice(0, 2))
    expect((await revoke(session_id, token)).status).toBe(404)
    expect((await revoke(session_id, authorization_token)).status).toBe(404)
    expect((await revoke('none', token)).status).toBe(404)
  })

  test('a setting gives an empty answer to a relay revoke', async () => {
    const { ready, revoke } = relays({ relays: { readyMs: 2000, revokeAnswers: 204 } })
    const { session_id, session_users } = await ready()
    expect(await revoke(session_id, session_users[0]?.authorization_token)).toMatchObject({
      status: 204,
      body: undefined,
    })
  })
})

test('relay sessions are listed until they are deleted, and then their ports are free', async () => {
  const { call, clock, emulator, open } = relays({ locate: () => ({ latitude: 35.7, longitude: 139.7 }) })
  const [one, two] = [await open(), await open()]
  const list = async () => (await call('GET', sessions)).body as { sessions: readonly Session[] }
  expect(await list()).toMatchObject({
    sessions: [{ session_id: one }, { session_id: two }],
    pagination: { has_next: false },
  })
  expect((await call('DELETE', `${sessions}/${one}`)).status).toBe(204)
  expect((await call('DELETE', `${sessions}/${one}`)).status).toBe(404)
  expect((await call('GET', `${sessions}/${one}`)).status).toBe(404)
  await clock.advance(2000)
  expect((await list()).sessions.map(({ session_id }) => session_id)).toEqual([two])
  expect(emulator.inspect().relaySessions).toEqual([{ session_id: two, ready: true, users: 3, connected: 0 }])
})

describe('the webhook of a relay session', () => {
  const listening = (options: EmulatorOptions = {}) => {
    const calls: { readonly url: string; readonly body: Session }[] = []
    const fetch = async (url: string, { body }: RequestInit) => {
      calls.push({ url, body: JSON.parse(String(body)) as Session })
      return new Response()
    }
    return { ...relays({ fetch, ...options }), calls }
  }
  const webhook_url = 'http://127.0.0.1/relay'
  const faulty = (webhooks: 'lost' | 'early' | 'repeated' | 'forged' | { lateMs: number }) =>
    listening({ faults: [{ operation: 'relays.create', webhooks }] })

  test('the webhook of a relay session is called once, when the session is ready', async () => {
    const { calls, clock, open, read } = listening()
    const id = await open({ webhook_url })
    await clock.advance(1999)
    expect(calls).toEqual([])
    await clock.advance(60_000)
    expect(calls).toEqual([{ url: webhook_url, body: await read(id) }])
  })

  test('the webhook of a relay session is not called if the session was deleted before', async () => {
    const { call, calls, clock, open } = listening()
    await call('DELETE', `${sessions}/${await open({ webhook_url })}`)
    await clock.advance(60_000)
    expect(calls).toEqual([])
  })

  test('the webhook of a relay session can be lost, repeated or late', async () => {
    for (const [fault, expected] of [
      ['lost', 0],
      ['repeated', 2],
      [{ lateMs: 3000 }, 0],
    ] as const) {
      const { calls, ready } = faulty(fault)
      await ready({ webhook_url })
      expect(calls).toHaveLength(expected)
    }
    const { calls, clock, ready } = faulty({ lateMs: 3000 })
    await ready({ webhook_url })
    await clock.advance(3000)
    expect(calls).toHaveLength(1)
  })

  test('the webhook of a relay session can arrive before the answer of the create', async () => {
    const { calls, post, read } = faulty('early')
    const { body } = await post({ webhook_url })
    expect(body).toMatchObject({ ready: false, authorization_token: null, session_users: [] })
    expect(calls).toEqual([{ url: webhook_url, body: await read((body as Session).session_id) }])
    expect(calls[0]?.body).toMatchObject({ ready: true })
  })

  test('the webhook of a relay session can be forged', async () => {
    const { calls, open, read } = faulty('forged')
    const id = await open({ webhook_url })
    expect(calls).toMatchObject([{ body: { session_id: id, ready: true, relay: { ip: '203.0.113.254' } } }])
    expect(await read(id)).toMatchObject({ ready: false, relay: null })
  })
})

describe('declared faults of relay sessions', () => {
  test('a declared fault can keep a relay session from becoming ready', async () => {
    const { clock, open, read } = relays({ faults: [{ operation: 'relays.create', relay: 'never ready', count: 1 }] })
    const [faulty, healthy] = [await open(), await open()]
    await clock.advance(3_600_000)
    expect(await read(faulty)).toMatchObject({ ready: false })
    expect(await read(healthy)).toMatchObject({ ready: true })
  })

  test('a declared fault can make a relay session ready without tokens', async () => {
    const { authorize, ready } = relays({ faults: [{ operation: 'relays.create', relay: 'no tokens' }] })
    const session = await ready()
    expect(session).toMatchObject({ ready: true, authorization_token: null, relay: { host: expect.any(String) } })
    expect(session.session_users.map(({ authorization_token }) => authorization_token)).toEqual([null, null, null])
    expect((await authorize(session.session_id, '192.0.2.1')).body).toMatchObject({
      session_user: { authorization_token: null },
    })
  })

  test('a declared fault can show each relay user with the token of another user, if there is one', async () => {
    const fault = { operation: 'relays.create', relay: 'token of another', nth: [1, 3] } as const
    const { clock, open, read, revoke, authorize } = relays({ faults: [fault] })
    const [faulty, healthy] = [await open(), await open()]
    await clock.advance(2000)
    const tokensOf = ({ session_users }: Session) => session_users.map(({ authorization_token }) => authorization_token)
    const shown = tokensOf(await read(faulty))
    expect(new Set(shown).size).toBe(3)
    const late = (await authorize(faulty, '192.0.2.9')).body as Session
    expect(late.session_user.authorization_token).toBe(shown[2])
    // The third user was shown with the first user's token, so the first user is the one revoked.
    expect((await revoke(faulty, shown[2])).status).toBe(200)
    expect((await read(faulty)).session_users.map(({ ip_address }) => ip_address)).toEqual([
      '198.51.100.7',
      '192.0.2.1',
      '192.0.2.9',
    ])

    const alone = await open({ users: [{ ip: '192.0.2.1' }] })
    await clock.advance(2000)
    for (const id of [healthy, alone]) {
      for (const token of tokensOf(await read(id))) expect((await revoke(id, token)).status).toBe(200)
    }
  })
})
