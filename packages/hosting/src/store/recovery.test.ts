import { createManualClock } from '@muster/core/clock'
import { expect, test } from 'vitest'
import type { MatchRecord, StoredFleet } from './entries.js'
import { createRecovery } from './recovery.js'

const match = (nth: number): MatchRecord => ({
  matchId: `m${nth}`,
  queue: 'duel',
  ticketIds: [],
  playerIds: [],
  at: nth,
})

test('matches are recovered in slices of 5 ms, between which the event loop turns', async () => {
  let spentMs = 0
  let adopted = 0
  let isDone = false
  const { recover } = createRecovery({
    serverLog: { open: async () => ({ servers: [], matches: Array.from({ length: 1000 }, (_, nth) => match(nth)) }) },
    clock: createManualClock(),
    stopwatch: () => spentMs,
    adopt: function* ({ matches }: StoredFleet) {
      for (const _ of matches) {
        spentMs += 1
        adopted += 1
        yield
      }
    },
    adopted: () => {
      isDone = true
    },
    problem: () => {},
  })
  const recovering = recover()
  const seen: number[] = []
  while (!isDone) {
    await new Promise((resolve) => setImmediate(resolve))
    seen.push(adopted)
  }
  expect(await recovering).toBe(true)
  expect(adopted).toBe(1000)
  const longest = Math.max(...seen.map((count, index) => count - (seen[index - 1] ?? 0)))
  expect(longest).toBeLessThanOrEqual(5)
})

test.each([
  [100, 'in the first turn'],
  [1000, 'in several turns'],
])('%i matches from a synchronous store are recovered %s of the event loop', async (count, turns) => {
  const isAtOnce = turns === 'in the first turn'
  let spentMs = 0
  let adopted = 0
  const { attempt, recover } = createRecovery({
    serverLog: { open: () => ({ servers: [], matches: Array.from({ length: count }, (_, nth) => match(nth)) }) },
    clock: createManualClock(),
    stopwatch: () => spentMs,
    adopt: function* ({ matches }: StoredFleet) {
      for (const _ of matches) {
        spentMs += 1
        adopted += 1
        yield
      }
    },
    adopted: () => {},
    problem: () => {},
  })
  expect(attempt()).toBe(isAtOnce)
  expect(adopted).toBe(isAtOnce ? count : 0)
  expect(await recover()).toBe(true)
  expect([adopted, attempt()]).toEqual([count, true])
})

test.each([3, 1000])(
  'if a takeover of %i matches fails midway, it is not repeated, and the failure is reported each second',
  async (count) => {
    const clock = createManualClock()
    let adopted = 0
    const problems: unknown[] = []
    const { attempt, isFailing, ready } = createRecovery({
      serverLog: { open: () => ({ servers: [], matches: Array.from({ length: count }, (_, nth) => match(nth)) }) },
      clock,
      stopwatch: () => 0,
      adopt: function* () {
        adopted += 1
        yield
        throw new Error('a record is unreadable')
      },
      adopted: () => {},
      problem: (error) => problems.push(error),
    })
    expect(attempt()).toBe(false)
    const ending = new AbortController()
    const waiting = ready(ending.signal)
    for (let second = 0; second < 3; second += 1) await clock.advance(1000)
    expect([adopted, isFailing(), problems.length]).toEqual([1, true, 4])
    ending.abort(new Error('given up'))
    await expect(waiting).rejects.toThrow('given up')
  },
)
