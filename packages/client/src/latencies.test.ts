import { createManualClock } from '@muster/core/clock'
import { expect, test } from 'vitest'
import type { Answer } from './connection.js'
import { createLatencies, type Ping, pingByFetch } from './latencies.js'

const beacon = (city: string | null, fqdn: string | null = null) => ({
  fqdn,
  public_ip: '203.0.113.5',
  udp_port: 9000,
  tcp_port: 9001,
  location: { city },
})

function setUp(
  ping: Ping,
  answer: Answer = { status: 200, body: { beacons: [beacon('Paris', 'p.example'), beacon('Oslo'), beacon(null)] } },
) {
  const clock = createManualClock()
  let asked = 0
  const latencies = createLatencies(
    async () => {
      asked += 1
      return answer
    },
    ping,
    clock,
  )
  return { clock, latencies, asked: () => asked }
}

test('ping round trips are measured per city every ten minutes, without beacons that do not answer', async () => {
  const hosts: string[] = []
  const { latencies, clock, asked } = setUp(async ({ host }, signal) => {
    hosts.push(host)
    if (host === 'p.example') return 12.34
    return new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('aborted'))))
  })
  const first = latencies()
  await clock.advance(2000)
  expect(await first).toEqual({ Paris: 12.3 })
  expect(hosts).toEqual(['p.example', '203.0.113.5'])
  expect(await latencies()).toEqual({ Paris: 12.3 })
  expect(asked()).toBe(1)
  await clock.advance(600_000)
  void latencies()
  expect(asked()).toBe(2)
})

test('the client has no latencies while no beacon exists or answers, and measures again at the next call', async () => {
  const none = setUp(async () => 1, { status: 404 })
  expect(await none.latencies()).toEqual({})
  // Values with which a game's own ping may report an unreachable beacon. Muster would refuse a request that contains
  // one.
  for (const said of [Infinity, NaN, -1, '12' as unknown as number, null as unknown as number])
    expect(await setUp(async () => said).latencies()).toEqual({})
  const broken = setUp(async () => Promise.reject(new Error('no')))
  expect(await broken.latencies()).toEqual({})
  expect(await broken.latencies()).toEqual({})
  expect(broken.asked()).toBe(2)
})

test('a ping is the shortest of three requests, whatever the beacon answers', async () => {
  const clock = createManualClock()
  const took = [90, 30, 40]
  const ping = pingByFetch(
    (async () => {
      await clock.sleep(took.shift() ?? 0)
      return new Response('no')
    }) as typeof fetch,
    clock,
    false,
  )
  const measured = ping(
    { city: 'Paris', host: 'p.example', tcpPort: 9001, udpPort: null },
    new AbortController().signal,
  )
  await clock.advance(200)
  expect(await measured).toBe(30)
  expect(await ping({ city: 'x', host: 'h', tcpPort: null, udpPort: 1 }, new AbortController().signal)).toBeUndefined()
})
