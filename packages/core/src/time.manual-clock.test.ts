import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createManualClock } from './time.js'

const start = 1_000_000

test('the time of a manual clock does not move until it is advanced', async () => {
  const clock = createManualClock({ start })
  expect(clock.now()).toBe(start)
  await clock.advance(250)
  expect(clock.now()).toBe(start + 250)
})

test('sleepers of a manual clock wake at their own times, and at equal times in the order of their begin', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.integer({ min: -5, max: 50 }), { maxLength: 20 }),
      fc.integer({ min: 0, max: 60 }),
      async (naps, ms) => {
        const clock = createManualClock({ start })
        const woken: { index: number; at: number }[] = []
        naps.forEach((nap, index) => void clock.sleep(nap).then(() => woken.push({ index, at: clock.now() - start })))
        await clock.advance(ms)
        const expected = naps
          .map((nap, index) => ({ index, at: Math.max(0, nap) }))
          .filter(({ at }) => at <= ms)
          .toSorted((a, b) => a.at - b.at || a.index - b.index)
        expect(woken).toEqual(expected)
        expect(clock.sleepers).toBe(naps.length - expected.length)
      },
    ),
  )
})

test('a sleeper that sleeps again wakes again within the same advance of a manual clock', async () => {
  const clock = createManualClock({ start })
  const ticks: number[] = []
  const loop = async () => {
    for (;;) {
      await clock.sleep(100)
      ticks.push(clock.now() - start)
    }
  }
  void loop()
  await clock.advance(350)
  expect(ticks).toEqual([100, 200, 300])
})

test('an abort wakes a sleeper of a manual clock at once with its reason', async () => {
  const clock = createManualClock()
  const abort = new AbortController()
  const nap = clock.sleep(1000, abort.signal)
  abort.abort(new Error('enough'))
  await expect(nap).rejects.toThrow('enough')
  expect(clock.sleepers).toBe(0)
  await expect(clock.sleep(1, abort.signal)).rejects.toThrow('enough')
})

test('`next` moves a manual clock to the time of the next sleeper, if a sleeper waits', async () => {
  const clock = createManualClock({ start })
  expect(await clock.next()).toBe(false)
  void clock.sleep(40)
  void clock.sleep(70)
  expect(await clock.next()).toBe(true)
  expect(clock.now()).toBe(start + 40)
})

test('`until` moves a manual clock until a promise settles, and has the outcome of that promise', async () => {
  const clock = createManualClock({ start })
  const slow = async () => {
    await clock.sleep(1050)
    return 'done'
  }
  expect(await clock.until(slow())).toBe('done')
  expect(clock.now()).toBe(start + 1100)
  await expect(clock.until(Promise.reject(new Error('broken')))).rejects.toThrow('broken')
  expect(clock.now()).toBe(start + 1100)
})
