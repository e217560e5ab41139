import { expect, test } from 'vitest'
import { createManualClock } from '../time.js'
import { unlessAborted, within } from './abort-signals.js'

const never = () => new Promise<string>(() => {})

test('`within` resolves to the value of a promise that settles in time, and leaves no timer', async () => {
  const clock = createManualClock()
  expect(await within(Promise.resolve('here'), 1000, clock)).toBe('here')
  await expect(within(Promise.reject(new Error('no')), 1000, clock)).rejects.toThrow('no')
  expect(clock.sleepers).toBe(0)
})

test('`within` resolves to undefined if the promise has not settled in time', async () => {
  const clock = createManualClock()
  const waiting = within(never(), 1000, clock)
  await clock.advance(1000)
  expect(await waiting).toBeUndefined()
})

test.each([
  ['within', (signal: AbortSignal) => within(never(), 1000, createManualClock(), signal)],
  ['unlessAborted', (signal: AbortSignal) => unlessAborted(never(), signal)],
])('%s rejects with the reason of the signal, before and during the wait', async (_, wait) => {
  await expect(wait(AbortSignal.abort(new Error('before')))).rejects.toThrow('before')
  const ending = new AbortController()
  const waiting = wait(ending.signal)
  ending.abort(new Error('meanwhile'))
  await expect(waiting).rejects.toThrow('meanwhile')
})

test('without a signal, `unlessAborted` resolves as its promise does', async () => {
  expect(await unlessAborted(Promise.resolve(1), undefined)).toBe(1)
  expect(await unlessAborted(Promise.resolve(1), new AbortController().signal)).toBe(1)
})
