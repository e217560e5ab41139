import { createManualClock } from '@muster/core/clock'
import { expect, test } from 'vitest'
import type { Changes } from '../store/store.js'
import { createTail } from './follower.js'

function open(changes: (call: number) => Partial<Changes> | Error) {
  const clock = createManualClock()
  const received: Changes[] = []
  const problems: unknown[] = []
  let calls = 0
  let missed = 0
  const tail = createTail({
    store: {
      changes: async (_after, _front, { signal }) => {
        calls += 1
        const next = changes(calls)
        if (next instanceof Error) throw next
        if (Object.keys(next).length === 0) await clock.sleep(60_000, signal)
        return { cursor: `${calls}`, tickets: [], replies: [], gap: false, isBehind: false, ...next }
      },
    },
    follower: 'a',
    clock,
    onChanges: (one) => received.push(one),
    onMissed: () => (missed += 1),
    problem: (error) => problems.push(error),
  })
  return { clock, tail, received, problems, missed: () => missed }
}

test('a ticket’s waiters are woken by the first read of the change stream and by a gap in it', async () => {
  const answers = [{ cursor: '0' }, { gap: true }]
  const { clock, tail, received, missed } = open((call) => answers[call - 1] ?? {})
  tail.start()
  await clock.advance(10)
  expect([received.length, missed()]).toEqual([2, 2])
  await clock.until(tail.close())
  expect(clock.sleepers).toBe(0)
})

test('after a failed read of the change stream, a ticket’s waiters are woken repeatedly for some time', async () => {
  const answers = [{ cursor: '0' }, new Error('away')]
  const { clock, tail, problems, missed } = open((call) => answers[call - 1] ?? {})
  tail.start()
  await clock.advance(10)
  expect([problems.length, missed()]).toEqual([1, 1])
  await clock.advance(300)
  expect(missed()).toBe(2)
  await clock.advance(10_000)
  expect(missed()).toBe(5)
  await clock.until(tail.close())
  expect(clock.sleepers).toBe(0)
})
