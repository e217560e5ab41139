import { createManualClock, seededRandom } from '@muster/core/clock'
import { expect, test } from 'vitest'
import { createPacketCounters } from '../counters.js'
import { defaultRelayDataSettings, publicIpOf } from '../settings.js'
import { createUdpRelay } from './udp-relay.js'

const relay = (host = '127.0.0.1') =>
  createUdpRelay(
    { ...defaultRelayDataSettings, host, publicIp: publicIpOf(host) },
    { clock: createManualClock(), random: seededRandom(1), speed: 1, counters: createPacketCounters() },
  )

const order = { token: 1, fault: undefined }

test('no two sessions of a UDP relay share a port', async () => {
  const made = relay()
  const lines = await Promise.all([made.open(order), made.open(order)])
  expect(new Set(lines.flatMap((line) => [line?.serverPort, line?.clientPort])).size).toBe(4)
  await made.close()
})

test('a closed UDP relay opens no ports for a session, and closes those that it was opening', async () => {
  const made = relay()
  const opening = made.open(order)
  await made.close()
  expect(await opening).toBeUndefined()
  expect(await made.open(order)).toBeUndefined()
})

test('closing a UDP relay, or the ports of a session, a second time has no effect', async () => {
  const made = relay()
  const line = await made.open(order)
  await line?.close()
  await line?.close()
  await made.close()
  await made.close()
  expect(line?.connected()).toBe(0)
})

test('a UDP relay opens no ports at an address that this machine does not have', async () => {
  expect(await relay('203.0.113.80').open(order)).toBeUndefined()
})

test.each([
  ['127.0.0.1', '127.0.0.1'],
  ['0.0.0.0', '127.0.0.1'],
  ['::', '::1'],
  ['2001:db8::1', '2001:db8::1'],
])('a relay that listens at %s is shown at %s', (host, publicIp) => {
  expect(publicIpOf(host)).toBe(publicIp)
})
