import { expect, test } from 'vitest'
import { createOwnPauses } from './own-pauses.js'

/** Calls the function after each of these gaps in milliseconds. Returns the results. */
const pausesIn = (...gaps: readonly number[]) => {
  const pauses = createOwnPauses(0)
  let now = 0
  return gaps.map((ms) => pauses.ticked((now += ms)))
}

test('more than 5 s between two ticks count as a pause of the process, even twice in a row', () => {
  expect(pausesIn(250, 5000, 250, 5001, 10_000, 250)).toEqual([false, false, false, true, true, false])
})

test('regular ticks more than 5 s apart are no pause of the process, unless one takes more than twice as long', () => {
  expect(pausesIn(10_000, 10_000, 10_000, 10_000, 19_000, 21_000).slice(2)).toEqual([false, false, false, true])
})

test('a request that is read before the next tick shows that the process was suspended', () => {
  for (const [ms, wasPaused] of [
    [5250, false],
    [5251, true],
  ] as const) {
    const pauses = createOwnPauses(0)
    pauses.ticked(250)
    expect(pauses.called(ms)).toBe(wasPaused)
    expect([pauses.called(ms + 1), pauses.ticked(6000), pauses.called(6001)]).toEqual([false, true, false])
  }
})

test('requests that are read while a tick takes long show that the process was not suspended', () => {
  const pauses = createOwnPauses(0)
  const seconds = Array.from({ length: 60 }, (_, nth) => pauses.called(1000 * nth))
  expect(seconds).not.toContain(true)
})
