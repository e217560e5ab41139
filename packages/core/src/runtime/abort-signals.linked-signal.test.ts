import { expect, test } from 'vitest'
import { linkedSignal } from './abort-signals.js'

test('a linked signal is aborted as soon as one of its sources is, with the reason of that source', () => {
  const [one, other] = [new AbortController(), new AbortController()]
  const { signal } = linkedSignal(one.signal, undefined, other.signal)
  expect(signal.aborted).toBe(false)
  other.abort('because')
  one.abort('too late')
  expect(signal.reason).toBe('because')
  expect(linkedSignal(one.signal).signal.reason).toBe('too late')
})

test('a linked signal is not aborted by its sources after it is released', () => {
  const one = new AbortController()
  const { signal, unlink } = linkedSignal(one.signal)
  unlink()
  one.abort()
  expect(signal.aborted).toBe(false)
})

test('a linked signal can be aborted without effect on its sources', () => {
  const one = new AbortController()
  const linked = linkedSignal(one.signal)
  linked.abort('by itself')
  expect([linked.signal.reason, one.signal.aborted]).toEqual(['by itself', false])
})
