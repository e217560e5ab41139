import { createManualClock } from '@muster/core/clock'
import { expect, test } from 'vitest'
import { createTimers } from './timers.js'

test('the option speed makes emulator timers run faster than the clock', async () => {
  const clock = createManualClock()
  const timers = createTimers(clock, 20)
  const done: string[] = []
  timers.after(60_000, () => done.push('minute'))
  timers.after(1000, () => done.push('second'))
  await clock.advance(50)
  expect(done).toEqual(['second'])
  await clock.advance(2949)
  expect(done).toEqual(['second'])
  await clock.advance(1)
  expect(done).toEqual(['second', 'minute'])
})

test('a cancelled emulator timer does not run, and leaves no sleeper of the clock behind', async () => {
  const clock = createManualClock()
  const timers = createTimers(clock, 1)
  const done: string[] = []
  const cancel = timers.after(100, () => done.push('one'))
  timers.after(100, () => done.push('two'))
  cancel()
  expect(clock.sleepers).toBe(1)
  await clock.advance(100)
  expect(done).toEqual(['two'])
  cancel()
})

test('closed emulator timers neither run nor start', async () => {
  const clock = createManualClock()
  const timers = createTimers(clock, 1)
  const done: string[] = []
  timers.after(100, () => done.push('one'))
  timers.close()
  timers.after(100, () => done.push('two'))()
  await clock.advance(1000)
  expect(clock.sleepers).toBe(0)
  expect(done).toEqual([])
})
