import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { expect, test } from 'vitest'
import { pingPacket, relayState } from '../relays/packet.js'
import { fakeRelay, sessionToken, userToken } from './fake-relay.fixture.js'
import { createPeer, PeerError } from './peer.js'
import { eventually, failure } from './session.fixture.js'

test('a relay peer pings until the relay reports that it is valid', async () => {
  const { client, heard } = await fakeRelay()
  const states: string[] = []
  client.onState((state) => states.push(state))
  expect(client.state).toBe('disconnected')
  await client.connect()
  expect(client.state).toBe('valid')
  expect(states).toEqual(['checking', 'valid'])
  expect(heard).toEqual([pingPacket(userToken, sessionToken)])
})

test('a relay peer repeats lost pings', async () => {
  const { client, clock, heard, answer } = await fakeRelay({ pingMs: 100 })
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
] as const)('a relay peer fails to connect if the relay reports state %d (%s)', async (code, problem, state) => {
  const { client, clock, heard, answer } = await fakeRelay()
  answer(code)
  const error = await failure(client.connect())
  expect(error).toBeInstanceOf(PeerError)
  expect(error).toMatchObject({ problem })
  expect(client.state).toBe(state)
  // The peer stops trying, and may connect again.
  expect(clock.sleepers).toBe(0)
  expect(heard).toHaveLength(1)
  answer(relayState.valid)
  await client.connect()
})

test.each([
  ['does not answer', undefined],
  ['answers only with the state checking', relayState.checking],
])('a relay peer fails to connect at its timeout if the relay %s', async (_, state) => {
  const { client, clock, answer } = await fakeRelay({ timeoutMs: 2000 })
  answer(state)
  const failed = failure(client.connect())
  await clock.advance(1999)
  expect(client.state).toBe('checking')
  await clock.advance(1)
  expect(await failed).toMatchObject({ problem: 'no answer' })
  expect(client.state).toBe('disconnected')
})

test('a relay peer fails to connect within its time if the port is closed', async () => {
  const { clock } = await fakeRelay()
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

test('a relay peer fails to connect to an unknown host name', async () => {
  const peer = createPeer({ role: 'host', host: 'relay.invalid', port: 1000, userToken, sessionToken })
  const error = await failure(peer.connect())
  expect(error).toMatchObject({ problem: 'unreachable', cause: expect.any(Error) })
  expect(peer.state).toBe('disconnected')
})

test('connecting a relay peer can be aborted', async () => {
  const { client, answer } = await fakeRelay()
  answer(undefined)
  const reason = new Error('changed my mind')
  const controller = new AbortController()
  const failed = failure(client.connect({ signal: controller.signal }))
  controller.abort(reason)
  expect(await failed).toBe(reason)
  expect(client.state).toBe('disconnected')
  await expect(client.connect({ signal: controller.signal })).rejects.toBe(reason)
})

test('a connected relay peer ignores the abort signal of its connect', async () => {
  const { client } = await fakeRelay()
  const controller = new AbortController()
  await client.connect({ signal: controller.signal })
  controller.abort()
  expect(client.state).toBe('valid')
})

test('closing a relay peer ends its connecting', async () => {
  const { client, answer } = await fakeRelay()
  answer(undefined)
  const failed = failure(client.connect())
  client.close()
  expect(await failed).toMatchObject({ problem: 'closed' })
  expect(client.state).toBe('disconnected')
})

test('a second connect of a relay peer is refused without effect', async () => {
  const { client } = await fakeRelay()
  const connected = client.connect()
  await expect(client.connect()).rejects.toThrow('connected already')
  await connected
  await expect(client.connect()).rejects.toThrow('connected already')
  expect(client.state).toBe('valid')
})
