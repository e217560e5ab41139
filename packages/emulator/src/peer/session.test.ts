import { describe, expect, test } from 'vitest'
import { becomes, eventually, failure, messages, pass, relayed, type Session } from './session.fixture.js'

/** Tests sessions with real packets over UDP, from the API to the peers. */

const ips = ['198.51.100.1', '198.51.100.2', '203.0.113.7', '203.0.113.7']
const text = (data: Buffer) => data.toString()
const token = (session: Session, index: number) => session.session_users[index]?.authorization_token ?? 0

/** Connects one host and three clients to a session. Two of the clients share an address. */
async function match(options: Parameters<typeof relayed>[0] = {}) {
  const made = relayed(options)
  const session = await made.open(ips)
  const host = made.hostOf(session)
  const clients = [1, 2, 3].map((index) => made.clientOf(session, token(session, index)))
  const [first, second, third] = clients as [(typeof clients)[0], (typeof clients)[0], (typeof clients)[0]]
  for (const peer of [host, ...clients]) await peer.connect()
  return { ...made, session, host, clients, first, second, third }
}

test('a ready relay session has the address for packets', async () => {
  const { open } = relayed()
  const [one, two] = [await open(['198.51.100.1']), await open(['198.51.100.1'])]
  for (const { relay } of [one, two]) {
    expect(relay).toEqual({
      ip: '127.0.0.1',
      host: '127.0.0.1',
      ports: {
        server: { port: expect.any(Number), protocol: 'UDP', link: `127.0.0.1:${relay.ports.server.port}` },
        client: { port: expect.any(Number), protocol: 'UDP', link: `127.0.0.1:${relay.ports.client.port}` },
      },
    })
  }
  expect(new Set([one, two].flatMap(({ relay: { ports } }) => [ports.server.port, ports.client.port])).size).toBe(4)
})

test('a relay host and three clients, two at one address, exchange packets', async () => {
  const { emulator, host, first, second, third, session } = await match()
  const atHost = messages(host, 3)
  first.send(Buffer.from('first'))
  second.send(Buffer.from('second'))
  third.send(Buffer.from('third'))
  const heard = await atHost
  expect(heard.map(({ data }) => text(data)).toSorted()).toEqual(['first', 'second', 'third'])
  expect(heard.map(({ connectionId }) => connectionId).toSorted()).toEqual([1, 2, 3])

  const answers = Promise.all([first, second, third].map((client) => messages(client, 1)))
  for (const { connectionId, data } of heard) host.send(connectionId, Buffer.from(`you are ${text(data)}`))
  expect((await answers).flat().map(({ data }) => text(data))).toEqual([
    'you are first',
    'you are second',
    'you are third',
  ])

  expect(emulator.counters.packets).toMatchObject({ received: 10, answered: 4, relayed: 6 })
  expect(emulator.inspect().relaySessions).toEqual([
    { session_id: session.session_id, ready: true, users: 4, connected: 4 },
  ])
})

test('the largest relay message passes in both directions', async () => {
  const { host, first } = await match()
  const largest = Buffer.alloc(1187, 7)
  const atHost = messages(host, 1)
  first.send(largest)
  const [heard] = await atHost
  expect(heard?.data).toEqual(largest)
  const back = messages(first, 1)
  host.send(heard?.connectionId ?? 0, largest)
  expect((await back)[0]?.data).toEqual(largest)
})

test('a relay host can connect to a relay session at an IPv6 address', async () => {
  const { open, hostOf } = relayed({ relayData: { host: '::1' } })
  const session = await open(['2001:db8::1'])
  expect(session.relay.ports.server.link).toBe(`[::1]:${session.relay.ports.server.port}`)
  await hostOf(session).connect()
})

test('a relay that listens on all addresses shows loopback, or the address of its settings', async () => {
  const all = await relayed({ relayData: { host: '0.0.0.0' } }).open(ips)
  expect(all.relay.ip).toBe('127.0.0.1')
  const told = await relayed({ relayData: { host: '0.0.0.0', publicIp: '203.0.113.80' } }).open(ips)
  expect(told.relay).toMatchObject({ ip: '203.0.113.80', host: '203.0.113.80' })
})

test('a relay session gets no relay if no port can be opened at the address', async () => {
  const { call } = relayed({ relayData: { host: '203.0.113.80' } })
  expect(await call('POST', '/v1/relays/sessions', { users: [{ ip: '198.51.100.1' }] })).toMatchObject({
    status: 503,
    body: { message: 'no relay is available' },
  })
})

describe('users of a relay session', () => {
  test('a revoked relay user is notified, and neither sends nor receives any more', async () => {
    const { clock, emulator, session, revoke, host, first, second } = await match()
    expect((await revoke(session, token(session, 1))).status).toBe(200)
    // The first client does not know yet that it was revoked.
    first.send(Buffer.from('still here'))
    await eventually(() => emulator.counters.packets.dropped.invalidToken === 1)
    await clock.advance(500)
    await becomes(first, 'invalid')
    expect(() => first.send(Buffer.from('at all'))).toThrow(
      expect.objectContaining({ name: 'PeerError', problem: 'not valid' }),
    )
    await expect(first.connect()).rejects.toMatchObject({ problem: 'invalid' })

    host.send(1, Buffer.from('to nobody'))
    const heard = messages(host, 1)
    second.send(Buffer.from('on we go'))
    expect((await heard).map(({ data }) => text(data))).toEqual(['on we go'])
    expect(emulator.counters.packets.dropped.noClient).toBe(1)
  })

  test('a relay user that is authorized again has another token and connection', async () => {
    const { session, authorize, revoke, clientOf, host, first } = await match()
    await revoke(session, token(session, 1))
    first.close()
    const fresh = await authorize(session, '198.51.100.2')
    expect(fresh).not.toBe(token(session, 1))
    const back = clientOf(session, fresh)
    await back.connect()
    const heard = messages(host, 1)
    back.send(Buffer.from('back'))
    expect((await heard)[0]).toEqual({ connectionId: 4, data: Buffer.from('back') })
  })

  test('a relay user cannot use tokens of another session', async () => {
    const { open, session, clientOf } = await match()
    const other = await open(ips)
    await expect(clientOf(session, token(other, 1)).connect()).rejects.toMatchObject({ problem: 'invalid' })
    const mixed: Session = { ...session, authorization_token: other.authorization_token }
    await expect(clientOf(mixed, token(session, 1)).connect()).rejects.toMatchObject({ problem: 'invalid' })
  })

  test('a relay user can join while others play', async () => {
    const { session, authorize, clientOf, host } = await match()
    const late = clientOf(session, await authorize(session, '192.0.2.9'))
    await late.connect()
    const heard = messages(host, 1)
    late.send(Buffer.from('sorry'))
    expect((await heard)[0]?.connectionId).toBe(4)
  })
})

describe('the timing of a relay session', () => {
  test('a relay user can continue from another port after two seconds of silence', async () => {
    const { clock, session, clientOf, host, first } = await match()
    first.close()
    const moved = clientOf(session, token(session, 1))
    const connected = moved.connect()
    await clock.advance(1500)
    expect(moved.state).toBe('checking')
    await clock.advance(500)
    await connected
    const heard = messages(host, 1)
    moved.send(Buffer.from('moved'))
    expect((await heard)[0]).toEqual({ connectionId: 1, data: Buffer.from('moved') })
  })

  test('a relay session reports a host that is silent for ten seconds, until another host connects', async () => {
    const { clock, session, hostOf, host, first, second } = await match()
    host.close()
    await pass(clock, 9500)
    expect([first.state, second.state]).toEqual(['valid', 'valid'])
    await pass(clock, 1000)
    await Promise.all([becomes(first, 'timed out'), becomes(second, 'timed out')])
    second.close()
    await pass(clock, 10_000)
    const successor = hostOf(session, token(session, 2))
    await successor.connect()
    await clock.advance(500)
    await becomes(first, 'valid')
    const heard = messages(successor, 1)
    first.send(Buffer.from('you now'))
    expect((await heard)[0]?.connectionId).toBe(1)
  })

  test('a client that connects to a relay session without a host gets "session timed out" at once', async () => {
    const { clock, session, authorize, clientOf, host } = await match()
    host.close()
    await pass(clock, 10_000)
    const late = clientOf(session, await authorize(session, '192.0.2.9'))
    await expect(late.connect()).rejects.toMatchObject({ problem: 'session timed out' })
    expect(late.state).toBe('timed out')
  })

  test('a relay session refuses a second host', async () => {
    const { session, hostOf } = await match()
    const rival = hostOf(session, token(session, 1))
    await expect(rival.connect()).rejects.toMatchObject({ problem: 'error' })
    expect(rival.state).toBe('error')
  })

  test('a relay session delays an authorization by the speed of the emulator', async () => {
    const { clock, open, hostOf } = relayed({ relayData: { authDelayMs: 3000 }, speed: 2 })
    const host = hostOf(await open(ips))
    const connected = host.connect()
    await pass(clock, 1000)
    expect(host.state).toBe('checking')
    await pass(clock, 500)
    await connected
  })
})

test('a relay user who sends faster than the rate limit loses packets but stays connected', async () => {
  const { clock, emulator, host, first, second } = await match({
    relayData: { userPacketsPerSecond: 20, sessionPacketsPerSecond: 30 },
  })
  const heard = messages(host, 30)
  for (let sent = 0; sent < 100; sent++) first.send(Buffer.from('x'))
  for (let sent = 0; sent < 15; sent++) second.send(Buffer.from('y'))
  const { dropped } = emulator.counters.packets
  await eventually(() => dropped.userRate === 80 && dropped.sessionRate === 5)
  const content = (await heard).map(({ data }) => text(data))
  expect(content.filter((message) => message === 'x')).toHaveLength(20)
  expect(content.filter((message) => message === 'y')).toHaveLength(10)
  await clock.advance(1000)
  const later = messages(host, 1)
  first.send(Buffer.from('z'))
  expect((await later).map(({ data }) => text(data))).toEqual(['z'])
})

test('declared faults affect the packets of the relay session created with them', async () => {
  const { clock, emulator, open, hostOf } = relayed({
    faults: [{ operation: 'relays.create', nth: [1], packets: { loss: 1 } }],
  })
  const [faulty, healthy] = [await open(ips), await open(ips)]
  await hostOf(healthy).connect()
  const host = hostOf(faulty)
  const connected = failure(host.connect())
  await pass(clock, 10_000)
  expect(await connected).toMatchObject({ problem: 'no answer' })
  expect(emulator.counters.packets.dropped.fault).toBeGreaterThan(10)
})

test('relay packets can be delayed by a declared time', async () => {
  const { clock, open, hostOf } = relayed({ faults: [{ operation: 'relays.create', packets: { delayMs: 200 } }] })
  const host = hostOf(await open(ips))
  const connected = host.connect()
  await clock.advance(100)
  expect(host.state).toBe('checking')
  await clock.advance(500)
  await connected
})
