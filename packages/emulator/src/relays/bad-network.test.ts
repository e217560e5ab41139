import { createManualClock, seededRandom } from '@muster/core/clock'
import { expect, test } from 'vitest'
import { createTimers } from '../timers.js'
import { type PacketFault, throughBadNetwork } from './bad-network.js'
import { createPacketCounters } from '../counters.js'

/** Creates a bad network whose packets are numbers. */
function network(fault: PacketFault) {
  const clock = createManualClock()
  const start = clock.now()
  const counters = createPacketCounters()
  const timers = createTimers(clock, 1)
  const left: { readonly packet: number; readonly at: number }[] = []
  const send = throughBadNetwork(fault, { random: seededRandom(7), timers, counters }, (_side, datagram) => {
    left.push({ packet: datagram.readUInt16LE(), at: clock.now() - start })
  })
  let next = 0
  const sendSome = (count: number) => {
    for (let sent = 0; sent < count; sent++) {
      const datagram = Buffer.alloc(2)
      datagram.writeUInt16LE(next++)
      send('client', datagram, 0, { address: '192.0.2.1', port: 1 })
    }
  }
  return { clock, counters, timers, left, sendSome, packets: () => left.map(({ packet }) => packet) }
}

test('the simulated relay network loses the configured share of packets', () => {
  const { sendSome, left, counters } = network({ loss: 0.3 })
  sendSome(1000)
  expect(left.length).toBeGreaterThan(650)
  expect(left.length).toBeLessThan(750)
  expect(counters.dropped.fault).toBe(1000 - left.length)
})

test('the simulated relay network can lose all packets, or none', () => {
  const all = network({ loss: 1 })
  all.sendSome(50)
  expect(all.left).toEqual([])
  const none = network({ loss: 0 })
  none.sendSome(50)
  expect(none.left).toHaveLength(50)
})

test('the simulated relay network delays packets and keeps their order', async () => {
  const { sendSome, left, clock } = network({ delayMs: 40 })
  sendSome(2)
  await clock.advance(39)
  expect(left).toEqual([])
  await clock.advance(1)
  expect(left).toEqual([
    { packet: 0, at: 40 },
    { packet: 1, at: 40 },
  ])
})

test('relay jitter lets later packets overtake earlier ones', async () => {
  const { sendSome, left, packets, clock } = network({ delayMs: 10, jitterMs: 20 })
  sendSome(100)
  await clock.advance(30)
  expect(left.every(({ at }) => at >= 10 && at <= 30)).toBe(true)
  expect(packets()).not.toEqual(packets().toSorted((a, b) => a - b))
  expect(new Set(packets()).size).toBe(100)
})

test('relay reordering holds some packets until the next was sent, without losing any', async () => {
  const { sendSome, packets, clock } = network({ reorder: 0.2 })
  sendSome(200)
  await clock.advance(100)
  expect(packets().toSorted((a, b) => a - b)).toEqual(Array.from({ length: 200 }, (_, packet) => packet))
  const overtaken = packets().filter((packet, index) => packet !== index)
  expect(overtaken.length).toBeGreaterThan(40)
  for (const [index, packet] of packets().entries()) expect(Math.abs(packet - index)).toBe(packet === index ? 0 : 1)
})

test('relay reordering holds the last packet for at most 100 ms', async () => {
  const { sendSome, left, clock } = network({ reorder: 1 })
  sendSome(1)
  await clock.advance(99)
  expect(left).toEqual([])
  await clock.advance(1)
  expect(left).toEqual([{ packet: 0, at: 100 }])
})

test('the end of a relay session drops the packets in flight', async () => {
  const { sendSome, left, clock, timers } = network({ delayMs: 10, reorder: 0.5 })
  sendSome(10)
  timers.close()
  await clock.advance(1000)
  expect(left).toEqual([])
})
