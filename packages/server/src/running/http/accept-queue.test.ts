import { createManualClock } from '@muster/core/clock'
import { expect, test } from 'vitest'
import { createAcceptQueue } from './accept-queue.js'

test('the accept queue reports for how long connections have been waiting, since it was last seen empty', async () => {
  const clock = createManualClock()
  let look: (() => void) | undefined
  const queue = createAcceptQueue(clock, (next) => (look = next))
  /** Simulates a turn of the event loop that takes 20 ms and then accepts connections. */
  const turn = async ({ accepts }: { accepts: number }) => {
    await clock.advance(20)
    for (let count = 0; count < accepts; count += 1) queue.accepted()
    const due = look
    look = undefined
    due?.()
  }
  expect(queue.waitMs()).toBe(0)
  for (let turns = 0; turns < 50; turns += 1) await turn({ accepts: 1 })
  expect(queue.waitMs()).toBe(49 * 20)
  await turn({ accepts: 0 })
  expect([queue.waitMs(), look]).toEqual([0, undefined])
  await turn({ accepts: 3 })
  await turn({ accepts: 0 })
  expect([queue.waitMs(), look]).toEqual([0, undefined])
})
