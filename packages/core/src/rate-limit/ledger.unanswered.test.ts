import { expect, test } from 'vitest'
import { createUnanswered } from './ledger.js'

const WINDOW_MS = 1000

/** Returns the times at which a token becomes free again, in steps of 50 ms. */
function returns(unanswered: ReturnType<typeof createUnanswered>, from: number, until: number): number[] {
  const times: number[] = []
  let out = unanswered.out(from, WINDOW_MS)
  for (let now = from; now <= until; now += 50) {
    for (const still = unanswered.out(now, WINDOW_MS); out > still; out -= 1) times.push(now)
  }
  return times
}

test('unanswered requests free one token at a time: after one window, two windows later, then every four', () => {
  const unanswered = createUnanswered()
  for (let request = 0; request < 5; request += 1) unanswered.add(0)
  expect(unanswered.nextBack(WINDOW_MS)).toBe(1250)
  expect(returns(unanswered, 0, 20_000)).toEqual([1250, 3250, 7250, 11_250, 15_250])
})

test('an answer to a later request frees the tokens of unanswered ones after 250 ms and a window', () => {
  const unanswered = createUnanswered()
  unanswered.add(0)
  unanswered.add(100)
  unanswered.answered(500, 120)
  expect(unanswered.nextBack(WINDOW_MS)).toBe(1750)
  expect(returns(unanswered, 500, 5000)).toEqual([1750, 1750])
})

test('an answer to an earlier request does not free the tokens of unanswered ones', () => {
  const unanswered = createUnanswered()
  unanswered.add(100)
  unanswered.answered(500, 90)
  expect(returns(unanswered, 500, 5000)).toEqual([1350])
})
