import { expect, test } from 'vitest'
import { createTally } from './tally.js'

test('the sums of the relay demo tally equal its counts', () => {
  const tally = createTally()
  tally.packets({ sent: 10, back: 7, cutOff: 2, lost: 1 })
  tally.packets({ sent: 5, back: 5, cutOff: 0, lost: 0 })
  tally.thrownOut(true)
  tally.thrownOut(true)
  tally.thrownOut(false)
  tally.stuck('lobby ABC')
  expect(tally.now).toEqual({
    packets: { sent: 15, back: 12, cutOff: 2, lost: 1 },
    refused: 2,
    notRefused: 1,
    stuck: ['lobby ABC'],
  })
})
