import { describe, expect, test } from 'vitest'
import { createCountBound } from './count-bound.js'

function setUp(leastMs = 50) {
  const changes: [boundMs: number, why: string][] = []
  const bound = createCountBound(leastMs, (...change) => changes.push(change))
  let now = 0
  /** Sends four requests per second. Each is answered after the round trip. */
  const answers = (seconds: number, roundTripMs: number) => {
    for (const end = now + seconds * 1000; now < end; now += 250) {
      bound.written(now)
      bound.answered(now, roundTripMs)
    }
  }
  return { bound, changes, answers, at: () => bound.at(now), now: () => now }
}

const onlyAnswers = Number.POSITIVE_INFINITY

test('at first, only an answer proves that the server counted a request', () => {
  expect(setUp().at()).toBe(onlyAnswers)
})

test('while answers are quick, only an answer proves that the server counted a request', () => {
  const { answers, at, changes } = setUp()
  answers(120, 40)
  expect(at()).toBe(onlyAnswers)
  expect(changes).toEqual([])
})

test('after 6 s of slow answers a request is taken as counted 250 ms after its write, later after 50 ms', () => {
  const { answers, at, changes } = setUp()
  answers(4, 800)
  expect(at()).toBe(onlyAnswers)
  answers(2, 800)
  expect(at()).toBe(250)
  answers(30, 800)
  expect(at()).toBe(50)
  expect(changes).toEqual([
    [250, 'slow answers'],
    [125, 'steady'],
    [62.5, 'steady'],
    [50, 'steady'],
  ])
})

test('once quick answers follow slow ones, only an answer proves that the server counted a request', () => {
  const { answers, at, changes } = setUp()
  answers(40, 800)
  answers(6, 20)
  expect(at()).toBe(onlyAnswers)
  expect(changes.at(-1)).toEqual([onlyAnswers, 'quick answers'])
})

describe('the proof that a request was counted, after a late event loop, a 429 or a minute of silence', () => {
  test('after a late event loop, only an answer proves counting, until answers are slow again', () => {
    const { bound, answers, at, now, changes } = setUp()
    answers(40, 800)
    bound.late(now())
    expect(at()).toBe(onlyAnswers)
    expect(changes.at(-1)).toEqual([onlyAnswers, 'late event loop'])
    answers(6, 800)
    expect(at()).toBe(250)
  })

  test('for a minute after a 429, only an answer proves that the server counted a request', () => {
    const { bound, answers, at, now, changes } = setUp()
    answers(40, 800)
    bound.refused(now())
    expect(changes.at(-1)).toEqual([onlyAnswers, 'refused'])
    answers(59, 800)
    expect(at()).toBe(onlyAnswers)
    answers(2, 800)
    expect(at()).toBeLessThanOrEqual(250)
  })

  test('after half a minute without any answer, only an answer proves that the server counted a request', () => {
    const { bound, answers, now } = setUp()
    answers(40, 800)
    expect(bound.at(now() + 31_000)).toBe(onlyAnswers)
  })
})

describe('the silence of a server', () => {
  test('a server counts as silent once an answer takes longer than usual plus the bound for counting', () => {
    const { bound, answers, now } = setUp()
    answers(40, 800)
    const idleUntil = now() + 5000
    expect(bound.silentSince(idleUntil)).toBeUndefined()
    bound.written(idleUntil)
    expect(bound.silentSince(idleUntil + 850)).toBeUndefined()
    expect(bound.silentSince(idleUntil + 851)).toBe(idleUntil)
    bound.answered(idleUntil + 900, 900)
    expect(bound.silentSince(idleUntil + 9000)).toBeUndefined()
  })

  test('a server stays silent while its requests time out, until it answers a request', () => {
    const { bound, answers, now } = setUp()
    answers(40, 800)
    const from = now()
    bound.written(from)
    bound.lost()
    bound.written(from + 2000)
    expect(bound.silentSince(from + 2001)).toBe(from)
  })
})
