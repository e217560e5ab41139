import { type Clock, createManualClock, type ManualClock } from '@muster/core/clock'
import { describe, expect, test } from 'vitest'
import { type DeployDefinition, deploySchema } from '../records/deploy.js'
import type { Order } from '../records/order.js'
import { Server } from '../records/server.js'
import { createListening, type ProbeTarget } from './port-probe.js'

const port = { internal: 7777, external: 30_001, protocol: 'UDP', link: undefined }
const assignment = { fqdn: 'a.example.com', publicIp: '203.0.113.9', ports: { game: port }, location: undefined }

/**
 * Creates a `ListenCheck` for a queue's probe, over a server that answers knocks from a given time on.
 * @param answersAt milliseconds from which the server answers knocks
 */
function setUp(
  changes: Partial<DeployDefinition>,
  answersAt = Infinity,
  clockOver: (manual: ManualClock) => Clock = (manual) => manual,
) {
  const clock = createManualClock({ start: 0 })
  const knocks: { readonly at: number; readonly target: ProbeTarget }[] = []
  const told: (readonly [listens: boolean, at: number])[] = []
  const problems: unknown[] = []
  const listening = createListening({
    clock: clockOver(clock),
    prober: (target, signal) => {
      knocks.push({ at: clock.now(), target })
      if (clock.now() >= answersAt) return Promise.resolve(true)
      return new Promise((resolve) => signal.addEventListener('abort', () => resolve(false)))
    },
    listened: (_, listens) => told.push([listens, clock.now()]),
    problem: (error) => problems.push(error),
  })
  const deploy = deploySchema.parse({ application: 'a', version: '1', ...changes })
  const server = new Server({ serverId: 'm', queue: 'q', at: 0 }, { deploy, secret: 's' } as unknown as Order)
  return { clock, listening, server, knocks, told, problems }
}

test('a server without a probe counts as listening immediately', () => {
  const { listening, server, told } = setUp({})
  listening.begin(server, assignment)
  expect(told).toEqual([[true, 0]])
})

test('a server with a warm-up counts as listening only after this time', async () => {
  const { clock, listening, server, told } = setUp({ warmUpMs: 3000 })
  listening.begin(server, assignment)
  await clock.advance(2999)
  expect(told).toEqual([])
  await clock.advance(1)
  expect(told).toEqual([[true, 3000]])
})

describe('a probe of a port', () => {
  const probe = { kind: 'udp', port: 'game', payload: 'hi', timeoutMs: 500, withinMs: 5000 } as const

  test('a port probe goes to the external port and is repeated until it is answered', async () => {
    const { clock, listening, server, knocks, told } = setUp({ warmUpMs: 100, probe }, 2000)
    listening.begin(server, assignment)
    await clock.advance(5000)
    expect(knocks.map(({ at }) => at)).toEqual([100, 850, 1600, 2350])
    expect(knocks[0]?.target).toEqual({ kind: 'udp', host: '203.0.113.9', port: 30_001, payload: 'hi' })
    expect(told).toEqual([[true, 2350]])
    expect(clock.sleepers).toBe(0)
  })

  test('a port probe fails when its time is over', async () => {
    const { clock, listening, server, told } = setUp({ probe })
    listening.begin(server, assignment)
    await clock.advance(6000)
    expect(told).toEqual([[false, 5250]])
    expect(clock.sleepers).toBe(0)
  })

  test('a port probe ends without a result and without a timer when its server is forgotten', async () => {
    const { clock, listening, server, told } = setUp({ probe })
    listening.begin(server, assignment)
    await clock.advance(700)
    listening.forget(server)
    await clock.advance(10_000)
    expect(told).toEqual([])
    expect(clock.sleepers).toBe(0)
  })

  test('a port probe of an unknown port fails with the name of this port', async () => {
    const { clock, listening, server, told, problems } = setUp({ probe: { ...probe, port: 'query' } })
    listening.begin(server, assignment)
    await clock.advance(0)
    expect(told).toEqual([[false, 0]])
    expect(problems).toMatchObject([{ name: 'InvalidInput', message: expect.stringContaining('"query"') as string }])
  })
})

describe('the registration of a server as its probe', () => {
  const probe = { kind: 'registration', withinMs: 5000 } as const

  test('a server with a registration probe counts as listening once it has registered', async () => {
    const { clock, listening, server, told } = setUp({ probe })
    listening.begin(server, assignment)
    await clock.advance(1500)
    listening.registered(server)
    await clock.advance(0)
    expect(told).toEqual([[true, 1500]])
    expect(clock.sleepers).toBe(0)
  })

  test('a registration that serves as the probe may arrive before READY is seen', async () => {
    const { clock, listening, server, told } = setUp({ probe })
    listening.registered(server)
    listening.begin(server, assignment)
    await clock.advance(0)
    expect(told).toEqual([[true, 0]])
  })

  test('a registration probe fails if the registration does not arrive in time', async () => {
    const { clock, listening, server, told } = setUp({ probe })
    listening.begin(server, assignment)
    await clock.advance(9000)
    expect(told).toEqual([[false, 5000]])
  })

  test('a registration that serves as the probe is not awaited after closing', async () => {
    const { clock, listening, server, told } = setUp({ probe })
    listening.begin(server, assignment)
    listening.close()
    await clock.advance(9000)
    expect(told).toEqual([])
    expect(clock.sleepers).toBe(0)
  })
})

describe('a probe while this process is suspended', () => {
  /** Suspends the process for 20 s. Afterwards, all overdue timers fire at once. */
  const suspendable = (changes: Partial<DeployDefinition>, answersAt: number) => {
    let suspendedMs = 0
    const world = setUp(changes, answersAt, (manual) => {
      const now = () => manual.now() + suspendedMs
      const sleep = async (ms: number, signal?: AbortSignal) => {
        for (const end = now() + ms; now() < end;) await manual.sleep(Math.min(50, end - now()), signal)
      }
      return { now, sleep }
    })
    return { ...world, suspend: () => (suspendedMs = 20_000) }
  }

  test('a server that answers after the suspension counts as listening', async () => {
    const probe = { kind: 'udp', port: 'game', timeoutMs: 500, withinMs: 5000 } as const
    const { clock, listening, server, told, suspend } = suspendable({ probe }, 2000)
    listening.begin(server, assignment)
    await clock.advance(1000)
    suspend()
    await clock.advance(2000)
    expect(told.map(([listens]) => listens)).toEqual([true])
  })

  test('a server that registers after the suspension counts as listening', async () => {
    const probe = { kind: 'registration', withinMs: 5000 } as const
    const { clock, listening, server, told, suspend } = suspendable({ probe }, Infinity)
    listening.begin(server, assignment)
    await clock.advance(1000)
    suspend()
    await clock.advance(1000)
    listening.registered(server)
    await clock.advance(1000)
    expect(told.map(([listens]) => listens)).toEqual([true])
  })

  test('a server that never registers fails after the time without the suspension', async () => {
    const probe = { kind: 'registration', withinMs: 5000 } as const
    const { clock, listening, server, told, suspend } = suspendable({ probe }, Infinity)
    listening.begin(server, assignment)
    await clock.advance(1000)
    suspend()
    await clock.advance(5500)
    expect(told.map(([listens]) => listens)).toEqual([false])
  })
})
