import { describe, expect, test } from 'vitest'
import { dataPacket, pingPacket, relayState } from '../relays/packet.js'
import { fakeRelay, sessionToken, userToken } from './fake-relay.fixture.js'
import { createPeer, PeerError, type PeerOptions } from './peer.js'
import { becomes, eventually, messages } from './session.fixture.js'

describe('a connected relay peer', () => {
  test('a connected relay peer keeps pinging', async () => {
    const { client, clock, heard } = await fakeRelay()
    await client.connect()
    for (const pings of [2, 3, 4]) {
      await clock.advance(499)
      expect(heard).toHaveLength(pings - 1)
      await clock.advance(1)
      await eventually(() => heard.length === pings)
    }
    expect(heard.every((datagram) => datagram.equals(pingPacket(userToken, sessionToken)))).toBe(true)
  })

  test('a relay peer receives and sends data as a client', async () => {
    const { client, heard, send } = await fakeRelay()
    await client.connect()
    const next = messages(client, 1)
    send(Buffer.from([2, 7, 8, 9]))
    expect(await next).toEqual([{ data: Buffer.of(7, 8, 9) }])
    client.send(Buffer.of(1, 2, 3))
    await eventually(() => heard.length === 2)
    expect(heard[1]).toEqual(dataPacket(userToken, sessionToken, Buffer.of(1, 2, 3)))
  })

  test('a relay peer that is host receives data with its sender, and sends to a client', async () => {
    const { host, heard, send } = await fakeRelay()
    await host.connect()
    const next = messages(host, 1)
    send(Buffer.from([2, 5, 1, 0, 0, 7, 8, 9]))
    expect(await next).toEqual([{ connectionId: 261, data: Buffer.of(7, 8, 9) }])
    host.send(261, Buffer.of(1, 2, 3))
    await eventually(() => heard.length === 2)
    expect(heard[1]).toEqual(dataPacket(userToken, sessionToken, Buffer.of(1, 2, 3), 261))
  })

  test('a relay peer ignores packets that are not from the relay', async () => {
    const { client, send } = await fakeRelay()
    await client.connect()
    const next = messages(client, 1)
    for (const junk of [
      Buffer.alloc(0),
      Buffer.of(1),
      Buffer.of(1, 9),
      Buffer.of(1, 3, 0),
      Buffer.of(3),
      Buffer.alloc(1201, 2),
    ])
      send(junk)
    send(Buffer.of(2, 1))
    expect(await next).toEqual([{ data: Buffer.of(1) }])
    expect(client.state).toBe('valid')
  })

  test.each([
    [relayState.invalid, 'invalid'],
    [relayState.error, 'error'],
  ] as const)('a relay peer disconnects if the relay reports state %d (%s)', async (code, state) => {
    const { client, clock, heard, answer } = await fakeRelay()
    await client.connect()
    answer(code)
    await clock.advance(500)
    await becomes(client, state)
    await clock.advance(5000)
    expect(heard).toHaveLength(2)
    expect(() => client.send(Buffer.of(1))).toThrow(`data cannot be sent while the peer is ${state}`)
  })

  test('a relay peer reports a silent host, which can return', async () => {
    const { client, clock, answer } = await fakeRelay()
    await client.connect()
    answer(relayState.timedOut)
    await clock.advance(500)
    await becomes(client, 'timed out')
    expect(() => client.send(Buffer.of(1))).toThrow(PeerError)
    answer(relayState.valid)
    await clock.advance(500)
    await becomes(client, 'valid')
  })

  test('a relay peer disconnects when the relay is silent', async () => {
    const { client, clock, answer } = await fakeRelay({ timeoutMs: 3000 })
    await client.connect()
    answer(undefined)
    await clock.advance(2500)
    expect(client.state).toBe('valid')
    await clock.advance(500)
    expect(client.state).toBe('disconnected')
    expect(clock.sleepers).toBe(0)
  })

  test('a relay peer counts data from the relay as a sign of life', async () => {
    const { client, clock, answer, send } = await fakeRelay({ timeoutMs: 1000 })
    await client.connect()
    answer(undefined)
    for (let round = 0; round < 5; round++) {
      await clock.advance(500)
      const next = messages(client, 1)
      send(Buffer.of(2, 1))
      await next
    }
    expect(client.state).toBe('valid')
  })

  test('a relay peer disconnects on close at once, even when close is repeated', async () => {
    const { client, clock, heard } = await fakeRelay()
    await client.connect()
    client.close()
    expect(client.state).toBe('disconnected')
    client.close()
    await clock.advance(5000)
    expect(heard).toHaveLength(1)
    await client.connect()
    expect(client.state).toBe('valid')
  })

  test('a relay peer calls listeners until they are removed', async () => {
    const { client, send } = await fakeRelay()
    await client.connect()
    const heard: number[] = []
    const stop = client.onMessage(({ data }) => heard.push(data[0] ?? 0))
    for (const part of [1, 2]) {
      const next = messages(client, 1)
      send(Buffer.of(2, part))
      await next
      stop()
    }
    expect(heard).toEqual([1])
  })
})

describe('data that a peer sends', () => {
  test('a relay peer sends data only while it is valid', async () => {
    const { client, host } = await fakeRelay()
    expect(() => client.send(Buffer.of(1))).toThrow(
      expect.objectContaining({ problem: 'not valid', message: 'data cannot be sent while the peer is disconnected' }),
    )
    expect(() => host.send(1, Buffer.of(1))).toThrow(PeerError)
  })

  test('a relay peer sends at most 1187 bytes of data', async () => {
    const { client, host, heard } = await fakeRelay()
    await Promise.all([client.connect(), host.connect()])
    expect(() => client.send(Buffer.alloc(1188))).toThrow(new RangeError('data must be at most 1187 bytes, got 1188'))
    expect(() => host.send(1, Buffer.alloc(1188))).toThrow(RangeError)
    host.send(1, new Uint8Array(1187))
    await eventually(() => heard.length === 3)
    expect(heard[2]).toHaveLength(1200)
  })

  test.each([0, -1, 1.5, 2 ** 32, Number.NaN])(
    'a relay peer refuses to send to the invalid connection id %d',
    async (connectionId) => {
      const { host } = await fakeRelay()
      await host.connect()
      expect(() => host.send(connectionId, Buffer.of(1))).toThrow(
        `connectionId must be one from a message of a client, got ${connectionId}`,
      )
    },
  )
})

describe('options of a relay peer', () => {
  const right = { role: 'client', host: '127.0.0.1', port: 1000, userToken, sessionToken } as const

  test.each([
    [{ port: 0 }, /^option port: .*, got 0$/],
    [{ host: '' }, /^option host: .*, got ""$/],
    [{ pingMs: 99 }, /^option pingMs: .*, got 99$/],
    [{ pingMs: 1001 }, /^option pingMs: .*, got 1001$/],
    [{ timeoutMs: 0 }, /^option timeoutMs: .*, got 0$/],
    [{ protocol: 'TCP' }, /^option protocol: must be UDP/],
  ])('createPeer refuses the options %o', (wrong, message) => {
    expect(() => createPeer({ ...right, ...wrong })).toThrow(message)
  })

  test.each(['host', 'client'] as const)(
    'the options of a peer include the credentials of a %s and its role',
    async (role) => {
      const { client } = await fakeRelay()
      const credentials = {
        ...right,
        role,
        sessionId: 's1',
        ip: '127.0.0.1',
        protocol: 'UDP',
        link: '127.0.0.1:1000',
      } as PeerOptions
      const peer = createPeer(credentials)
      expect([peer.role, peer.state, client.role]).toEqual([role, 'disconnected', 'client'])
      peer.close()
    },
  )

  test.each(['userToken', 'sessionToken'])('the error of a wrong %s of a peer does not show it', (name) => {
    for (const wrong of [-1, 2 ** 32, 1.5, Number.NaN]) {
      const make = () => createPeer({ ...right, [name]: wrong })
      expect(make).toThrow(new RegExp(`^option ${name}: `))
      expect(make).not.toThrow(String(wrong))
    }
  })
})
