import { createManualClock } from '@muster/core/clock'
import { describe, expect, test } from 'vitest'
import { type Enrolled, ENROLLED } from '../records/order.js'
import { Server } from '../records/server.js'
import { createReachabilityCheck } from './reachability-check.js'
import type { ProbeTarget } from './port-probe.js'

type Probe = Parameters<Parameters<typeof createReachabilityCheck>[0]['failed']>[1]

const udp: Probe = { kind: 'udp', port: 'game', withinMs: 30_000 }
const port = { internal: 7777, external: 7777, protocol: 'UDP', link: undefined }
const assignment = { fqdn: '203.0.113.9', publicIp: undefined, ports: { game: port }, location: undefined }
const textOf = (server: Server) => `muster-knock-${server.id.padEnd(30, '-')}`

/**
 * Creates a check on a manual clock that calls `advance` every 250 ms. If `accepts` is true, TCP knocks are accepted.
 */
function setUp({ probe = udp as Probe | undefined | 'gone', accepts = false } = {}) {
  const clock = createManualClock()
  const knocks: { readonly at: number; readonly target: ProbeTarget }[] = []
  const proved: string[] = []
  const failed: (readonly [id: string, knocks: number])[] = []
  const world = { probe }
  const knocking = createReachabilityCheck({
    clock,
    textOf,
    probeOf: () => world.probe,
    prober: (target, signal) => {
      knocks.push({ at: clock.now(), target })
      if (accepts) return Promise.resolve(true)
      return new Promise((resolve) => signal.addEventListener('abort', () => resolve(false)))
    },
    proved: ({ id }) => proved.push(id),
    failed: ({ id }, _, count) => failed.push([id, count]),
  })
  const serverOf = (id: string, key = 'k1') => {
    const enrolled: Enrolled = { key, name: id }
    const server = new Server({ serverId: id, queue: 'q', at: 0, pool: 'q', source: ENROLLED, enrolled }, undefined)
    server.phase = 'warming'
    return server
  }
  const run = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += 250) {
      knocking.advance(clock.now())
      await clock.advance(250)
    }
  }
  return { clock, knocking, knocks, proved, failed, world, serverOf, run }
}

describe('a server that must prove its address by UDP', () => {
  test('a server gets a UDP proof datagram once a second until it repeats its content', async () => {
    const { knocking, knocks, proved, serverOf, run } = setUp()
    const server = serverOf('e-1')
    knocking.begin(server, assignment)
    await run(5000)
    expect(knocks).toEqual([])
    knocking.heard(server, undefined)
    await run(2000)
    knocking.heard(server, undefined)
    await run(250)
    expect(knocks.length).toBe(3)
    expect(knocks[0]?.target).toEqual({ kind: 'udp', host: '203.0.113.9', port: 7777, payload: textOf(server) })
    expect(proved).toEqual([])
    knocking.heard(server, textOf(server))
    knocking.heard(server, textOf(server))
    await run(5000)
    expect([proved, knocks.length, knocking.isAwaited(server)]).toEqual([['e-1'], 3, false])
  })

  test('the answers to a server show only 21 characters of the datagram, which do not prove its address', async () => {
    const { knocking, proved, serverOf, run } = setUp()
    const server = serverOf('e-1')
    knocking.begin(server, assignment)
    const told = knocking.expectedText(server) ?? ''
    expect(textOf(server).startsWith(told)).toBe(true)
    expect(told.length).toBe(21)
    for (const text of [told, `${told}${'A'.repeat(22)}`, textOf(serverOf('e-2')), '']) knocking.heard(server, text)
    await run(1000)
    expect(proved).toEqual([])
  })

  test('an answer to the UDP proof datagram does not prove the address of a server', async () => {
    const { knocking, proved, serverOf, run } = setUp({ accepts: true })
    const server = serverOf('e-1')
    knocking.begin(server, assignment)
    knocking.heard(server, undefined)
    await run(5000)
    expect(proved).toEqual([])
  })

  test('the UDP proof fails after 30 datagrams, even if the clock jumps between them', async () => {
    const { clock, knocking, knocks, failed, serverOf, run } = setUp()
    const server = serverOf('e-1')
    knocking.begin(server, assignment)
    knocking.heard(server, undefined)
    await run(10_000)
    await clock.advance(3_600_000)
    clock.step(-7_200_000)
    await run(10_000)
    expect([knocks.length, failed]).toEqual([20, []])
    await run(11_000)
    expect([knocks.length, failed]).toEqual([30, [['e-1', 30]]])
    await run(5000)
    expect(knocks.length).toBe(30)
  })
})

test('a server proves its address by TCP once a connection is accepted, and gets no secret', async () => {
  const { knocking, knocks, proved, serverOf, run } = setUp({ probe: { ...udp, kind: 'tcp' }, accepts: true })
  const server = serverOf('e-1')
  knocking.begin(server, assignment)
  expect(knocking.expectedText(server)).toBeUndefined()
  knocking.heard(server, textOf(server))
  await run(250)
  expect([proved, knocks.length]).toEqual([['e-1'], 1])
})

test('at most 20 proof datagrams a second are sent for each enrolment key', async () => {
  const { knocking, knocks, serverOf, run } = setUp()
  const servers = Array.from({ length: 100 }, (_, nth) => serverOf(`e-${nth}`))
  const other = serverOf('other', 'k2')
  for (const server of [...servers, other]) {
    knocking.begin(server, assignment)
    knocking.heard(server, undefined)
  }
  const texts = () => knocks.map(({ target }) => target.payload)
  expect(texts()).toContain(textOf(other))
  await run(20_000)
  for (const { at } of knocks) {
    const within = knocks.filter((one) => one.at >= at && one.at < at + 1000 && one.target.payload !== textOf(other))
    expect(within.length).toBeLessThanOrEqual(40)
  }
  expect(knocks.length).toBeLessThanOrEqual(20 * 20 + 20)
  // No server was left out.
  expect(new Set(texts()).size).toBe(101)
})

test('no address is proved after its probe or its enrolment key was removed from the configuration', async () => {
  const { knocking, knocks, proved, failed, world, serverOf, run } = setUp({ probe: 'gone' })
  const server = serverOf('e-1')
  knocking.begin(server, assignment)
  knocking.heard(server, textOf(server))
  await run(60_000)
  expect([knocks, proved, failed]).toEqual([[], [], []])
  world.probe = undefined
  await run(250)
  expect(proved).toEqual(['e-1'])
})

test('no proof datagram is sent after closing', async () => {
  const { clock, knocking, knocks, proved, failed, serverOf, run } = setUp()
  const [stopping, left] = [serverOf('e-1'), serverOf('e-2')]
  for (const server of [stopping, left]) {
    knocking.begin(server, assignment)
    knocking.heard(server, undefined)
  }
  stopping.phase = 'stopping'
  await run(1000)
  knocking.close()
  await run(60_000)
  expect([knocks.length, proved, failed, clock.sleepers]).toEqual([2, [], [], 0])
})
