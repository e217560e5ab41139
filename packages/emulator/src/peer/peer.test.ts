import { createSocket, type RemoteInfo } from 'node:dgram'
import { once } from 'node:events'
import { createManualClock } from '@muster/core/clock'
import { describe, expect, onTestFinished, test } from 'vitest'
import { answerOf, dataPacket, pingPacket, relayState, type RelayState } from '../relay-data/packet.js'
import { PeerError } from './peer-error.js'
import type { PeerOptions } from './peer-options.js'
import { createPeer } from './peer.js'
import { becomes, eventually, failure, messages } from './session.fixture.js'

const userToken = 4_000_000_001
const sessionToken = 3_500_589_645

/** A relay that says what it is told to say, and a client and a host at it. */
async function relay(options: Partial<PeerOptions> = {}) {
  const clock = createManualClock()
  const socket = createSocket('udp4')
  onTestFinished(() => void socket.close())
  const heard: Buffer[] = []
  let peerAt: RemoteInfo | undefined
  let answers: RelayState | undefined = relayState.valid
  const send = (datagram: Buffer) => peerAt && socket.send(datagram, peerAt.port, peerAt.address)
  socket.on('message', (datagram, from) => {
    heard.push(datagram)
    peerAt = from
    if (answers !== undefined) send(answerOf(answers))
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')

  const at = { host: '127.0.0.1', port: socket.address().port, userToken, sessionToken, clock, ...options }
  const client = createPeer({ ...at, role: 'client' })
  const host = createPeer({ ...at, role: 'host' })
  onTestFinished(() => client.close())
  onTestFinished(() => host.close())
  return {
    clock,
    heard,
    client,
    host,
    send,
    /** Undefined for nothing. */
    answer: (state: RelayState | undefined) => {
      answers = state
    },
  }
}

describe('connecting', () => {
  test('pings, and is done when the relay says that the peer is valid', async () => {
    const { client, heard } = await relay()
    const states: string[] = []
    client.onState((state) => states.push(state))
    expect(client.state).toBe('disconnected')
    await client.connect()
    expect(client.state).toBe('valid')
    expect(states).toEqual(['checking', 'valid'])
    expect(heard).toEqual([pingPacket(userToken, sessionToken)])
  })

  test('a ping that gets lost is followed by others', async () => {
    const { client, clock, heard, answer } = await relay({ pingMs: 100 })
    answer(undefined)
    const connected = client.connect()
    await eventually(() => heard.length === 1)
    await clock.advance(100)
    await eventually(() => heard.length === 2)
    answer(relayState.valid)
    await clock.advance(100)
    await connected
    expect(heard).toHaveLength(3)
  })

  test.each([
    [relayState.invalid, 'invalid', 'invalid'],
    [relayState.timedOut, 'session timed out', 'timed out'],
    [relayState.error, 'error', 'error'],
  ] as const)('state %d is a refusal: %s', async (code, problem, state) => {
    const { client, clock, heard, answer } = await relay()
    answer(code)
    const error = await failure(client.connect())
    expect(error).toBeInstanceOf(PeerError)
    expect(error).toMatchObject({ problem })
    expect(client.state).toBe(state)
    // It does not go on, and may try again.
    expect(clock.sleepers).toBe(0)
    expect(heard).toHaveLength(1)
    answer(relayState.valid)
    await client.connect()
  })

  test.each([undefined, relayState.checking])('answers of %s are waited for so long, then no longer', async (state) => {
    const { client, clock, answer } = await relay({ timeoutMs: 2000 })
    answer(state)
    const failed = failure(client.connect())
    await clock.advance(1999)
    expect(client.state).toBe('checking')
    await clock.advance(1)
    expect(await failed).toMatchObject({ problem: 'no answer' })
    expect(client.state).toBe('disconnected')
  })

  test('to a port where nobody is ends likewise', async () => {
    const { clock } = await relay()
    const socket = createSocket('udp4').bind(0, '127.0.0.1')
    await once(socket, 'listening')
    const { port } = socket.address()
    socket.close()
    await once(socket, 'close')
    const peer = createPeer({ role: 'host', host: '127.0.0.1', port, userToken, sessionToken, clock })
    const failed = failure(peer.connect())
    for (let passed = 0; passed < 10_000; passed += 500) await clock.advance(500)
    expect(await failed).toMatchObject({ problem: 'no answer' })
  })

  test('to a name that there is not fails', async () => {
    const peer = createPeer({ role: 'host', host: 'relay.invalid', port: 1000, userToken, sessionToken })
    const error = await failure(peer.connect())
    expect(error).toMatchObject({ problem: 'unreachable', cause: expect.any(Error) })
    expect(peer.state).toBe('disconnected')
  })

  test('can be given up', async () => {
    const { client, answer } = await relay()
    answer(undefined)
    const reason = new Error('changed my mind')
    const controller = new AbortController()
    const failed = failure(client.connect({ signal: controller.signal }))
    controller.abort(reason)
    expect(await failed).toBe(reason)
    expect(client.state).toBe('disconnected')
    await expect(client.connect({ signal: controller.signal })).rejects.toBe(reason)
  })

  test('once connected, the signal means nothing any more', async () => {
    const { client } = await relay()
    const controller = new AbortController()
    await client.connect({ signal: controller.signal })
    controller.abort()
    expect(client.state).toBe('valid')
  })

  test('ends by close', async () => {
    const { client, answer } = await relay()
    answer(undefined)
    const failed = failure(client.connect())
    client.close()
    expect(await failed).toMatchObject({ problem: 'closed' })
    expect(client.state).toBe('disconnected')
  })

  test('twice is refused, and disturbs nothing', async () => {
    const { client } = await relay()
    const connected = client.connect()
    await expect(client.connect()).rejects.toThrow('connected already')
    await connected
    await expect(client.connect()).rejects.toThrow('connected already')
    expect(client.state).toBe('valid')
  })
})

describe('connected', () => {
  test('pings go on', async () => {
    const { client, clock, heard } = await relay()
    await client.connect()
    for (const pings of [2, 3, 4]) {
      await clock.advance(499)
      expect(heard).toHaveLength(pings - 1)
      await clock.advance(1)
      await eventually(() => heard.length === pings)
    }
    expect(heard.every((datagram) => datagram.equals(pingPacket(userToken, sessionToken)))).toBe(true)
  })

  test('a client hears data, and sends it', async () => {
    const { client, heard, send } = await relay()
    await client.connect()
    const next = messages(client, 1)
    send(Buffer.from([2, 7, 8, 9]))
    expect(await next).toEqual([{ data: Buffer.of(7, 8, 9) }])
    client.send(Buffer.of(1, 2, 3))
    await eventually(() => heard.length === 2)
    expect(heard[1]).toEqual(dataPacket(userToken, sessionToken, Buffer.of(1, 2, 3)))
  })

  test('a host hears whose data it is, and names whom its own is for', async () => {
    const { host, heard, send } = await relay()
    await host.connect()
    const next = messages(host, 1)
    send(Buffer.from([2, 5, 1, 0, 0, 7, 8, 9]))
    expect(await next).toEqual([{ connectionId: 261, data: Buffer.of(7, 8, 9) }])
    host.send(261, Buffer.of(1, 2, 3))
    await eventually(() => heard.length === 2)
    expect(heard[1]).toEqual(dataPacket(userToken, sessionToken, Buffer.of(1, 2, 3), 261))
  })

  test('what the relay does not say is not heard', async () => {
    const { client, send } = await relay()
    await client.connect()
    const next = messages(client, 1)
    for (const junk of [Buffer.alloc(0), Buffer.of(1), Buffer.of(1, 9), Buffer.of(1, 3, 0), Buffer.of(3), Buffer.alloc(1201, 2)]) send(junk)
    send(Buffer.of(2, 1))
    expect(await next).toEqual([{ data: Buffer.of(1) }])
    expect(client.state).toBe('valid')
  })

  test.each([
    [relayState.invalid, 'invalid'],
    [relayState.error, 'error'],
  ] as const)('state %d is the end of it', async (code, state) => {
    const { client, clock, heard, answer } = await relay()
    await client.connect()
    answer(code)
    await clock.advance(500)
    await becomes(client, state)
    await clock.advance(5000)
    expect(heard).toHaveLength(2)
    expect(() => client.send(Buffer.of(1))).toThrow(`data cannot be sent while the peer is ${state}`)
  })

  test('a host that is silent may come back', async () => {
    const { client, clock, answer } = await relay()
    await client.connect()
    answer(relayState.timedOut)
    await clock.advance(500)
    await becomes(client, 'timed out')
    expect(() => client.send(Buffer.of(1))).toThrow(PeerError)
    answer(relayState.valid)
    await clock.advance(500)
    await becomes(client, 'valid')
  })

  test('a relay that is silent is gone', async () => {
    const { client, clock, answer } = await relay({ timeoutMs: 3000 })
    await client.connect()
    answer(undefined)
    await clock.advance(2500)
    expect(client.state).toBe('valid')
    await clock.advance(500)
    expect(client.state).toBe('disconnected')
    expect(clock.sleepers).toBe(0)
  })

  test('data from the relay is a sign of life', async () => {
    const { client, clock, answer, send } = await relay({ timeoutMs: 1000 })
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

  test('close ends it, at once, and again', async () => {
    const { client, clock, heard } = await relay()
    await client.connect()
    client.close()
    expect(client.state).toBe('disconnected')
    client.close()
    await clock.advance(5000)
    expect(heard).toHaveLength(1)
    await client.connect()
    expect(client.state).toBe('valid')
  })

  test('listeners hear until they are taken off', async () => {
    const { client, send } = await relay()
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

describe('sending', () => {
  test('needs a valid peer', async () => {
    const { client, host } = await relay()
    expect(() => client.send(Buffer.of(1))).toThrow(
      expect.objectContaining({ problem: 'not valid', message: 'data cannot be sent while the peer is disconnected' }),
    )
    expect(() => host.send(1, Buffer.of(1))).toThrow(PeerError)
  })

  test('has a limit of 1187 bytes', async () => {
    const { client, host, heard } = await relay()
    await Promise.all([client.connect(), host.connect()])
    expect(() => client.send(Buffer.alloc(1188))).toThrow(new RangeError('data must be at most 1187 bytes, got 1188'))
    expect(() => host.send(1, Buffer.alloc(1188))).toThrow(RangeError)
    host.send(1, new Uint8Array(1187))
    await eventually(() => heard.length === 3)
    expect(heard[2]).toHaveLength(1200)
  })

  test.each([0, -1, 1.5, 2 ** 32, Number.NaN])('is not for connection %d', async (connectionId) => {
    const { host } = await relay()
    await host.connect()
    expect(() => host.send(connectionId, Buffer.of(1))).toThrow(`connectionId must be that of a client's message, got ${connectionId}`)
  })
})

describe('options', () => {
  const right = { role: 'client', host: '127.0.0.1', port: 1000, userToken, sessionToken } as const

  test.each([
    [{ port: 0 }, /^option port: .*, got 0$/],
    [{ host: '' }, /^option host: .*, got ""$/],
    [{ pingMs: 99 }, /^option pingMs: .*, got 99$/],
    [{ pingMs: 1001 }, /^option pingMs: .*, got 1001$/],
    [{ timeoutMs: 0 }, /^option timeoutMs: .*, got 0$/],
  ])('%o is refused', (wrong, message) => {
    expect(() => createPeer({ ...right, ...wrong })).toThrow(message)
  })

  test.each(['userToken', 'sessionToken'])('a wrong %s is refused without being shown', (name) => {
    for (const wrong of [-1, 2 ** 32, 1.5, Number.NaN]) {
      const make = () => createPeer({ ...right, [name]: wrong })
      expect(make).toThrow(new RegExp(`^option ${name}: `))
      expect(make).not.toThrow(String(wrong))
    }
  })
})
