import { manyWaitOn } from '@muster/core/internal'
import { expect, test } from 'vitest'
import { createWaits } from './follower-waits.js'

test('every waiter for a ticket is woken once by its change', async () => {
  const waits = createWaits()
  const [one, other, elsewhere] = [waits.begin('t1'), waits.begin('t1'), waits.begin('t2')]
  const woken: string[] = []
  void one.changed(undefined).then(() => woken.push('one'))
  void other.changed(new AbortController().signal).then(() => woken.push('other'))
  void elsewhere.changed(undefined).then(() => woken.push('elsewhere'))
  waits.wake(['t1', 't3'])
  await new Promise((resolve) => setImmediate(resolve))
  expect(woken).toEqual(['one', 'other'])
  waits.wakeAll()
  await new Promise((resolve) => setImmediate(resolve))
  expect(woken).toEqual(['one', 'other', 'elsewhere'])
  expect(waits.size()).toBe(0)
})

test('a ticket change between the start of a wait and its read is not missed', async () => {
  const waits = createWaits()
  const wait = waits.begin('t1')
  waits.wake(['t1'])
  await wait.changed(undefined)
  // The next wait for the same ticket is separate. The end of the first wait does not affect it.
  const next = waits.begin('t1')
  wait.end()
  expect(waits.size()).toBe(1)
  next.end()
  expect(waits.size()).toBe(0)
})

test('clients that disconnect while they wait for a ticket leave no waiter behind', async () => {
  const waits = createWaits()
  const leaving = manyWaitOn()
  const ended = Array.from({ length: 100 }, async (_, number) => {
    const wait = waits.begin(`t${number % 7}`)
    try {
      await wait.changed(leaving.signal)
    } finally {
      wait.end()
    }
  })
  expect(waits.size()).toBe(7)
  leaving.abort(new Error('gone'))
  for (const { status } of await Promise.allSettled(ended)) expect(status).toBe('rejected')
  expect(waits.size()).toBe(0)
})
