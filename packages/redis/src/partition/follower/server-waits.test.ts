import { createManualClock } from '@muster/core/clock'
import { expect, test } from 'vitest'
import { PartitionFull } from '../partition-errors.js'
import { createServerWaits, MOST_WAITING } from './server-waits.js'

/** Creates waits that record when they end. */
function open() {
  const clock = createManualClock()
  const start = clock.now()
  const waits = createServerWaits(clock)
  const ended: string[] = []
  const begin = (server: string, version = 1, signal?: AbortSignal) =>
    waits.wait(server, { version, waitMs: 10_000, signal }).then(
      () => void ended.push(`${server} after ${clock.now() - start}`),
      (error: unknown) => void ended.push(`${server}: ${String((error as Error).message)}`),
    )
  return { clock, waits, ended, begin }
}

test('a server’s request waits until the version of its orders changes, or the wait time is over', async () => {
  const { clock, waits, ended, begin } = open()
  void begin('a')
  void begin('b')
  await clock.advance(4000)
  waits.noticed({ server: 'a', version: 2 })
  await clock.advance(20_000)
  expect(ended).toEqual(['a after 4000', 'b after 10000'])
  expect([waits.size(), clock.sleepers]).toEqual([0, 0])
})

test('a new order version between the answer to a report and the wait is not missed', async () => {
  const { clock, waits, ended, begin } = open()
  waits.reporting('a')
  waits.noticed({ server: 'a', version: 2 })
  await begin('a', 1)
  expect(ended).toEqual(['a after 0'])
  // The response to the next report contains the orders.
  waits.reporting('a')
  void begin('a', 2)
  await clock.advance(10_000)
  expect(ended[1]).toBe('a after 10000')
})

test('a server has one open request: a later request ends the earlier request', async () => {
  const { clock, waits, ended, begin } = open()
  for (let nth = 0; nth < 100; nth += 1) {
    void begin('a')
    await clock.advance(1)
  }
  expect([ended.length, waits.size()]).toEqual([99, 1])
  await clock.advance(10_000)
  expect([ended.length, waits.size(), clock.sleepers]).toEqual([100, 0, 0])
})

test('an aborted request of a server ends its wait', async () => {
  const { clock, waits, ended, begin } = open()
  const ending = new AbortController()
  void begin('a', 1, ending.signal)
  await clock.advance(1)
  ending.abort(new Error('the server has gone'))
  await clock.advance(1)
  expect(ended).toEqual(['a: the server has gone'])
  expect([waits.size(), clock.sleepers]).toEqual([0, 0])
})

test('a process refuses a server request if it already holds the maximum number of them', async () => {
  const { clock, waits, ended, begin } = open()
  for (let nth = 0; nth < MOST_WAITING; nth += 1) void begin(`s${nth}`)
  await expect(waits.wait('one more', { version: 1, waitMs: 1000 })).rejects.toThrow(PartitionFull)
  expect(waits.size()).toBe(MOST_WAITING)
  // A server that is already waiting may wait again.
  void begin('s7')
  await clock.advance(0)
  expect(ended).toEqual(['s7 after 0'])
  waits.close()
  await clock.advance(0)
  expect([ended.length, waits.size(), clock.sleepers]).toEqual([MOST_WAITING + 1, 0, 0])
})

test('after a gap in the stream all servers report again, spread over time, and none twice', async () => {
  const { clock, waits, ended, begin } = open()
  for (let nth = 0; nth < 100; nth += 1) void begin(`s${nth}`)
  waits.missed()
  waits.missed()
  await clock.advance(0)
  expect(ended).toHaveLength(5)
  await clock.advance(950)
  expect(ended).toHaveLength(50)
  await clock.advance(1000)
  expect(ended).toHaveLength(100)
  expect(waits.size()).toBe(0)
})

test('if a second stream gap follows, servers that were woken and wait again are woken once more', async () => {
  const { clock, waits, ended, begin } = open()
  for (let nth = 0; nth < 20; nth += 1) void begin(`s${nth}`)
  waits.missed()
  await clock.advance(0)
  expect(ended).toEqual(['s0 after 0'])
  void begin('s0')
  await clock.advance(500)
  waits.missed()
  await clock.advance(4000)
  expect(ended).toHaveLength(21)
  expect([waits.size(), clock.sleepers]).toEqual([0, 0])
})
