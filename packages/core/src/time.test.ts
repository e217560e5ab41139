import { expect, test } from 'vitest'
import { systemClock } from './time.js'

test('the system clock gives epoch milliseconds that never go backwards', () => {
  const times = Array.from({ length: 1000 }, () => systemClock.now())
  expect(times).toEqual(times.toSorted((a, b) => a - b))
  expect(new Date(times[0] as number).getFullYear()).toBeGreaterThanOrEqual(2024)
})

test('a sleep lasts at least as long as it should', async () => {
  for (const ms of [0.2, 1.5, 5.9, 20]) {
    const before = performance.now()
    await systemClock.sleep(ms)
    expect(performance.now() - before).toBeGreaterThanOrEqual(ms)
  }
})

test('an abort ends a sleep, however long, with its reason', async () => {
  const abort = new AbortController()
  const nap = systemClock.sleep(2 ** 40, abort.signal)
  abort.abort(new Error('enough'))
  await expect(nap).rejects.toThrow('enough')
  await expect(systemClock.sleep(0, abort.signal)).rejects.toThrow('enough')
})

test('sleeps of zero and less end soon', async () => {
  let woken = false
  const nap = systemClock.sleep(-5).then(() => (woken = true))
  expect(woken).toBe(false)
  await nap
  expect(woken).toBe(true)
})
