import { createManualClock } from '@muster/core/clock'
import { expect, test } from 'vitest'
import type { ServerRecord } from './server-log.js'
import { createRecovery } from './recovery.js'

const intent = (nth: number): ServerRecord => ({
  matchId: `m${nth}`,
  queue: 'duel',
  tag: `match-m${nth}`,
  ticketIds: [],
  at: nth,
  assigned: true,
})

test('matches are taken over in slices of 5 ms, between which the event loop turns', async () => {
  let spentMs = 0
  let adopted = 0
  let isDone = false
  const { recover } = createRecovery({
    serverLog: { open: async () => Array.from({ length: 1000 }, (_, nth) => intent(nth)) },
    clock: createManualClock(),
    stopwatch: () => spentMs,
    expect: () => {},
    adopt: () => {
      spentMs += 1
      adopted += 1
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
