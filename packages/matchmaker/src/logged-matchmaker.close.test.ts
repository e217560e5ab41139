import { afterEach, describe, expect, test } from 'vitest'
import { MatchmakerClosed } from './errors.js'
import { createWorlds, type World } from './logged-matchmaker.fixture.js'

const { createWorld, removeAll } = createWorlds()
afterEach(removeAll)

/** Starts a process. `closed` closes it, and resolves with the milliseconds until its store was closed. */
const timed = async (world: World) => {
  let at = 0
  const close = () => void (at = world.clock.now())
  const first = await world.live({ over: (serverLog) => ({ ...serverLog, close }) })
  const closed = async (timeoutMs: number) => {
    const before = world.clock.now()
    await world.clock.until(first.matchmaker.close({ timeoutMs }))
    return at - before
  }
  return { first, closed }
}

describe('close of a matchmaker with a ticket log', () => {
  test('close with a ticket log cancels no ticket, stops no server, and rejects waits, so clients retry', async () => {
    const world = createWorld()
    const first = await world.live()
    for (const id of ['ann', 'ben', 'cas']) first.join(id)
    await first.run(1000)
    const { version = 0 } = first.matchmaker.getTicket('cas') ?? {}
    const change = first.matchmaker.waitForChange('cas', { version })
    const told = expect(change).rejects.toThrow(MatchmakerClosed)
    expect(await world.clock.until(first.matchmaker.close())).toEqual([])
    await told
    expect(() => first.join('dee')).toThrow(MatchmakerClosed)
    expect(() => first.matchmaker.cancelTicket('cas')).toThrow(MatchmakerClosed)
    expect(world.service.calls.stop).toEqual([])

    const next = await world.live()
    expect(next.status('cas')).toBe('SEARCHING')
    await next.run(6000)
    expect(next.status('ann')).toBe('HOST_ASSIGNED')
    expect(world.service.records).toHaveLength(1)
  })

  test('close waits for the answers of sent creates, and sends no further create', async () => {
    const world = createWorld({ maxCreatesInFlight: 1, service: { latencyMs: () => 3000 } })
    const { first, closed: closedAfter } = await timed(world)
    await first.run(6500)
    for (const id of ['ann', 'ben', 'cas', 'dee']) first.join(id)
    await first.matchmaker.tick()
    expect(await closedAfter(10_000)).toBeLessThan(6200)
    expect(world.service.calls.create).toHaveLength(1)
    expect(world.servers().map(({ requestId }) => requestId)).toEqual(['r1', undefined])

    const next = await world.live()
    await next.run(20_000)
    expect(['ann', 'ben', 'cas', 'dee'].map(next.status)).toEqual(Array.from({ length: 4 }, () => 'HOST_ASSIGNED'))
    expect(world.service.records).toHaveLength(2)
  })

  test('close ends within 2.1 s even if a create is never answered', async () => {
    const world = createWorld({ service: { latencyMs: () => 1e6 } })
    const { first, closed } = await timed(world)
    first.join('ann')
    first.join('ben')
    await first.matchmaker.tick()
    expect(await closed(2000)).toBeLessThanOrEqual(2100)
  })

  test('close with `handOver: false` cancels tickets and stops starting servers', async () => {
    const world = createWorld()
    const first = await world.live()
    for (const id of ['ann', 'ben', 'cas']) first.join(id)
    await first.run(1000)
    await world.clock.until(first.matchmaker.close({ handOver: false }))
    expect(first.seen.cancelled?.map(({ reason }) => reason)).toEqual(['closed', 'closed', 'closed'])
    expect(world.service.unstopped()).toEqual([])
    const next = await world.live()
    expect(next.matchmaker.exportTickets().tickets).toEqual([])
  })
})
