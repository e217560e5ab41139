import { createManualClock } from '@muster/core/clock'
import { expect, test } from 'vitest'
import { watchClock } from './clock-watch.js'

test('each step of the wall clock is reported once, with its direction, until the watch is closed', async () => {
  const clock = createManualClock()
  const heard: string[] = []
  const watch = watchClock(clock, (error) => void heard.push(error.message))
  await clock.advance(10_000)
  expect(heard).toEqual([])
  clock.step(3_600_000)
  await clock.advance(3000)
  clock.step(-2500)
  await clock.advance(3000)
  expect(heard).toEqual([
    expect.stringContaining('was set forward by 3600.0 s. Waits are not affected.'),
    expect.stringContaining('was set back by 2.5 s.'),
  ])
  watch.close()
  clock.step(1_000_000)
  await clock.advance(5000)
  expect(heard).toHaveLength(2)
  expect(clock.sleepers).toBe(0)
})
