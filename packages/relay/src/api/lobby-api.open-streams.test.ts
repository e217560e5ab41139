import { expect, test } from 'vitest'
import { createOpenStreams } from './lobby-api.js'

const never = () => new AbortController().signal
const aborted = (streams: readonly { readonly signal: AbortSignal }[]) => streams.map(({ signal }) => signal.aborted)

test('a lobby stream beyond the limit of a caller ends the oldest of that caller', () => {
  const open = createOpenStreams({ perCaller: 8, inAll: 100 })
  const others = open('ben', never())
  const streams = Array.from({ length: 10 }, () => open('ann', never()))
  expect(aborted(streams)).toEqual([true, true, ...Array.from({ length: 8 }, () => false)])
  expect(streams[0]?.signal.reason).toMatchObject({ status: 409, code: 'superseded' })
  expect(others.signal.aborted).toBe(false)
})

test('lobby streams that ended or whose client disconnected do not count towards the limit of open streams', () => {
  const open = createOpenStreams({ perCaller: 8, inAll: 100 })
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

test('lobby streams beyond the overall limit are refused, unless the caller has an older stream to end', () => {
  const open = createOpenStreams({ perCaller: 2, inAll: 4 })
  for (const id of ['ann', 'ann', 'ben']) open(id, never())
  const last = open('cleo', never())
  expect(() => open('dora', never())).toThrow('Too many requests are waiting')
  expect(() => open('cleo', never())).toThrow('Too many requests are waiting')
  expect(open('ann', never()).signal.aborted).toBe(false)
  last.end()
  last.end()
  expect(open('dora', never()).signal.aborted).toBe(false)
  expect(() => open('eve', never())).toThrow('Too many requests are waiting')
})

test('a lobby stream whose client disconnected before it began does not count', () => {
  const open = createOpenStreams({ perCaller: 1, inAll: 1 })
  for (let count = 0; count < 3; count += 1) expect(open('ann', AbortSignal.abort()).signal.aborted).toBe(true)
  expect(open('ben', never()).signal.aborted).toBe(false)
})
