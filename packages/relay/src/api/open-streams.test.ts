import { expect, test } from 'vitest'
import { createOpenStreams } from './open-streams.js'

const never = () => new AbortController().signal
const aborted = (streams: readonly { readonly signal: AbortSignal }[]) => streams.map(({ signal }) => signal.aborted)

test('one too many ends the oldest, of that caller alone', () => {
  const open = createOpenStreams()
  const others = open('ben', never())
  const streams = Array.from({ length: 10 }, () => open('ann', never()))
  expect(aborted(streams)).toEqual([true, true, ...Array.from({ length: 8 }, () => false)])
  expect(streams[0]?.signal.reason).toMatchObject({ status: 409, code: 'superseded' })
  expect(others.signal.aborted).toBe(false)
})

test('what is over, or whose client is gone, does not count', () => {
  const open = createOpenStreams()
  const leaving = new AbortController()
  const first = open('ann', never())
  for (let count = 0; count < 20; count += 1) open('ann', never()).end()
  for (let count = 0; count < 7; count += 1) open('ann', leaving.signal)
  leaving.abort(new Error('gone'))
  const later = Array.from({ length: 7 }, () => open('ann', never()))
  expect(aborted([first, ...later])).toEqual(Array.from({ length: 8 }, () => false))
  open('ann', never())
  expect(aborted([first, ...later])).toEqual([true, ...Array.from({ length: 7 }, () => false)])
})
