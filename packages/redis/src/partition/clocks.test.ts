/** The machines' clocks of two processes are ten minutes apart. Both must see the same age of stored data. */
import type { Clock } from '@muster/core/clock'
import type { Ticket } from '@muster/matchmaker'
import { describe, expect, test } from 'vitest'
import { ClockDiffers } from './partition-errors.js'
import { createWorld, duel } from './world.fixture.js'

const MINUTES = 60_000

/** Starts two processes, of which the first leads. A ticket without partners in `waits` expires after a minute. */
async function apart(firstMs: number, secondMs: number) {
  const lonely = { ...duel, name: 'lonely', matchSize: 3, expireAfterMs: 60_000 }
  const world = createWorld({ queues: [duel, lonely], endedTicketTtlMs: 600_000 })
  const { clock, pass, player } = world
  const skewed = (ms: number): Clock => ({ now: () => clock.now() + ms, sleep: (...sleep) => clock.sleep(...sleep) })
  const first = world.process({ clock: skewed(firstMs) })
  first.start()
  await pass(300)
  const second = world.process({ clock: skewed(secondMs) })
  second.start()
  await pass(300)
  expect(first.leads()).toBe(true)
  const answer = <T>(asked: Promise<T>): Promise<T> => clock.until(asked, 20)
  const join = (id: string, queue = 'duel') => answer(second.createTicket({ id, queue, players: [player(id)] }))
  const read = async (id: string) => (await answer(second.getTicket(id))) as Ticket
  return { ...world, first, second, answer, join, read }
}

describe.each([
  { first: 10, next: -10 },
  { first: -10, next: 10 },
])('two leaders whose clocks are $first min and $next min ahead', (ahead) => {
  const open = () => apart(ahead.first * MINUTES, ahead.next * MINUTES)

  test('a ticket expires at its time, not earlier or later, under leaders with clocks minutes off', async () => {
    const { first, second, answer, pass, join, read, clock } = await open()
    const startedAt = clock.now()
    await join('early', 'lonely')
    await pass(30_000, 100)
    await join('late', 'lonely')
    expect(await read('early')).toMatchObject({ status: 'SEARCHING' })
    first.pause()
    await pass(25_000, 100)
    expect(second.leads()).toBe(true)
    expect(await read('early')).toMatchObject({ status: 'SEARCHING', createdAt: expect.closeTo(startedAt, -2) })
    await pass(8000, 100)
    const expired = await read('early')
    expect(expired).toMatchObject({ status: 'CANCELLED', cancelReason: 'expired' })
    expect(Math.abs((expired.cancelledAt ?? 0) - startedAt - 60_000)).toBeLessThan(2000)
    expect(await read('late')).toMatchObject({ status: 'SEARCHING' })
    first.resume()
    await answer(Promise.all([first.close(), second.close()]))
  })

  test('the times of a match follow the store’s clock, even if the leaders’ clocks are minutes off', async () => {
    const { first, second, answer, pass, join, read, clock } = await open()
    await pass(1000)
    const at = clock.now()
    await join('ann')
    await join('bob')
    await pass(3000)
    const { createdAt, matchedAt, assignedAt } = await read('ann')
    for (const time of [createdAt, matchedAt, assignedAt]) expect(Math.abs((time ?? 0) - at)).toBeLessThan(3000)
    await answer(Promise.all([first.close(), second.close()]))
  })
})

test('a process whose clock is minutes off reports the difference once', async () => {
  const { first, second, problems, answer, pass } = await apart(10 * MINUTES, 0)
  await pass(30_000, 100)
  expect(problems).toEqual([expect.any(ClockDiffers)])
  expect(String(problems[0])).toContain('600 s ahead of the clock of Redis')
  expect([first.clockOffsetMs(), second.clockOffsetMs()].map((ms) => Math.round(ms / 1000))).toEqual([-600, 0])
  await answer(Promise.all([first.close(), second.close()]))
})
