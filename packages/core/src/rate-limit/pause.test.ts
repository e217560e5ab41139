import { expect, test } from 'vitest'
import { createPause } from './pause.js'

const setUp = () => createPause({ pauseMs: 1000, maxPauseMs: 60_000 })

test('pauses without Retry-After double up to 8 s until a call is accepted', () => {
  const pause = setUp()
  let now = 0
  const lengths = Array.from({ length: 6 }, () => {
    pause.refused(now, undefined, now)
    const length = pause.until() - now
    now = pause.until() + 1
    return length
  })
  expect(lengths).toEqual([1000, 2000, 4000, 8000, 8000, 8000])
  expect(pause.probing()).toBe(true)
  pause.accepted()
  expect(pause.probing()).toBe(false)
  pause.refused(now, undefined, now)
  expect(pause.until() - now).toBe(1000)
})

test('429s of calls that were in flight together cause one pause', () => {
  const pause = setUp()
  pause.refused(100, undefined, 0)
  pause.refused(900, undefined, 50)
  pause.refused(1500, undefined, 99)
  expect(pause.until()).toBe(1100)
  expect(pause.probing()).toBe(false)
})

test('the longest Retry-After of concurrent 429s determines the pause', () => {
  const pause = setUp()
  pause.refused(100, undefined, 0)
  pause.refused(200, 5000, 0)
  expect(pause.until()).toBe(5200)
})
