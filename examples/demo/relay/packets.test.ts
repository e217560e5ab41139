import { createManualClock } from '@muster/core/clock'
import { expect, test } from 'vitest'
import type { Connection } from './connection.js'
import { createLatencies } from './latencies.js'
import { createPacketLog, NO_PACKETS } from './packet-log.js'
import { readPacket, writePacket } from './packet.js'
import { startPump } from './pump.js'

test('the relay demo counts an unreturned packet as lost, or as cut off if the session ended soon after', () => {
  const log = createPacketLog()
  expect([0, 100, 2200, 3500].map((now) => log.sent(now))).toEqual([1, 2, 3, 4])
  log.back(2)
  expect(log.underWay).toBe(3)
  expect(log.count()).toEqual({ sent: 4, back: 1, cutOff: 0, lost: 3 })
  log.disturb(3100)
  // It has ended already.
  log.disturb(5000)
  expect(log.count()).toEqual({ sent: 4, back: 1, cutOff: 2, lost: 1 })
})

test('a relay packet of the demo contains its number and its time, in 64 bytes', () => {
  const packet = writePacket(4_000_000_000, 1234.5678)
  expect(packet.length).toBe(64)
  expect(readPacket(packet)).toEqual({ number: 4_000_000_000, sentAt: 1234.5678 })
})

test('the relay demo reports latency percentiles in microseconds, over all packets and over the last second', () => {
  const latencies = createLatencies()
  for (let number = 0; number < 100; number++) latencies.add(5)
  for (let number = 0; number < 2000; number++) latencies.add(0.25)
  expect(latencies.recent()).toEqual({ p50: 250, p99: 250 })
  expect(latencies.all()).toEqual({ p50: 250, p99: 5000 })
})

function connection() {
  const sent = { packets: 0 }
  const all: Connection = {
    linked: true,
    send: () => void (sent.packets += 1),
    stop: () => {},
    drain: async () => {},
    refused: async () => true,
    close: () => NO_PACKETS,
  }
  return { ...all, sent }
}

test('relay demo players send packets in turn at the given rate, together at most at the total rate', async () => {
  const clock = createManualClock()
  let also = 0
  const pump = startPump({ clock, perSecond: 10, mostPerSecond: 30, every: 10, also: () => void (also += 1) })
  const connections = [connection(), connection(), connection(), connection(), connection(), connection()]
  for (const one of connections.slice(0, 2)) pump.add(one)
  await clock.advance(1000)
  expect(connections.map(({ sent }) => sent.packets)).toEqual([10, 10, 0, 0, 0, 0])
  for (const one of connections.slice(2)) pump.add(one)
  await clock.advance(1000)
  expect(connections.map(({ sent }) => sent.packets)).toEqual([15, 15, 5, 5, 5, 5])
  expect(also).toBe(5)
  for (const one of connections.slice(1)) pump.remove(one)
  await clock.advance(1000)
  expect(connections.map(({ sent }) => sent.packets)).toEqual([25, 15, 5, 5, 5, 5])
  pump.stop()
  await clock.advance(1000)
  expect(connections[0]?.sent.packets).toBe(25)
})
