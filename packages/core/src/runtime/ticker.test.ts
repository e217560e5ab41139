import { createManualClock } from '../time.js'
import { expect, test } from 'vitest'
import { createTicker } from './timers.js'

function setUp() {
  const clock = createManualClock()
  const state = { needed: true, ticks: 0, fails: false }
  const ticker = createTicker({
    clock,
    everyMs: 1000,
    tick: async () => {
      state.ticks += 1
      if (state.fails) throw new Error('no answer of 192.0.2.1')
    },
    isNeeded: () => state.needed,
  })
  return { clock, state, ticker }
}

test('the ticker ticks while there is work, and sets no timer once there is none', async () => {
  const { clock, state, ticker } = setUp()
  ticker.wake()
  ticker.wake()
  await clock.advance(3500)
  expect(state.ticks).toBe(3)
  state.needed = false
  await clock.advance(5000)
  expect(state.ticks).toBe(4)
  expect(clock.sleepers).toBe(0)
})

test('the ticker starts again at a wake-up with work, even after a wake-up without work', async () => {
  const { clock, state, ticker } = setUp()
  state.needed = false
  ticker.wake()
  await clock.advance(5000)
  state.needed = true
  ticker.wake()
  await clock.advance(1000)
  expect(state.ticks).toBe(1)
})

test('the ticker continues after a failed tick, and its warning has no address', async () => {
  const { clock, state, ticker } = setUp()
  const warnings: string[] = []
  const listen = ({ message }: Error) => warnings.push(message)
  process.on('warning', listen)
  state.fails = true
  ticker.wake()
  await clock.advance(2000)
  expect(state.ticks).toBe(2)
  expect(warnings).toEqual(Array(2).fill('a tick failed: Error: no answer of [address]'))
  process.off('warning', listen)
})

test('the ticker stops for good, after the current tick at the latest', async () => {
  const { clock, state, ticker } = setUp()
  ticker.wake()
  await clock.advance(1500)
  await ticker.stop()
  ticker.wake()
  await clock.advance(5000)
  expect(state.ticks).toBe(1)
  expect(clock.sleepers).toBe(0)
})

test('the ticker can tick at once, and then at its interval', async () => {
  const clock = createManualClock()
  let ticks = 0
  const ticker = createTicker({
    clock,
    everyMs: 1000,
    tick: async () => void (ticks += 1),
    atOnce: true,
    isNeeded: () => true,
  })
  ticker.wake()
  await clock.advance(0)
  expect(ticks).toBe(1)
  await clock.advance(2500)
  expect(ticks).toBe(3)
  await ticker.stop()
})
