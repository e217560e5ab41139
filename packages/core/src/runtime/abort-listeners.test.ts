import { getEventListeners, once } from 'node:events'
import { expect, test } from 'vitest'
import { listenToAbort, stopListeningToAbort } from './abort-listeners.js'
import { systemClock } from '../time.js'

test('many abort callbacks share one listener, each is called once, and no listener is left', () => {
  const controller = new AbortController()
  const { signal } = controller
  const told: number[] = []
  const listeners = Array.from({ length: 20 }, (_, index) => ({
    handleEvent: () => {
      told.push(index)
      stopListeningToAbort(signal, listeners[index] as (typeof listeners)[number])
    },
  }))
  for (const listener of listeners) listenToAbort(signal, listener)
  expect(getEventListeners(signal, 'abort')).toHaveLength(1)
  stopListeningToAbort(signal, listeners[3] as (typeof listeners)[number])
  controller.abort()
  expect(told).toEqual([...listeners.keys()].filter((index) => index !== 3))
  expect(getEventListeners(signal, 'abort')).toHaveLength(0)
})

test('the last abort callback to leave removes the shared listener, and the next callback adds it again', () => {
  const { signal } = new AbortController()
  const listener = { handleEvent: () => {} }
  for (let round = 0; round < 2; round += 1) {
    listenToAbort(signal, listener)
    expect(getEventListeners(signal, 'abort')).toHaveLength(1)
    stopListeningToAbort(signal, listener)
    expect(getEventListeners(signal, 'abort')).toHaveLength(0)
  }
})

test('many sleeps on one AbortSignal give no warning about listeners', async () => {
  const controller = new AbortController()
  const sleeps = Array.from({ length: 30 }, () => systemClock.sleep(60_000, controller.signal))
  expect(getEventListeners(controller.signal, 'abort')).toHaveLength(1)
  const over = Promise.allSettled(sleeps)
  const aborted = once(controller.signal, 'abort')
  controller.abort()
  await aborted
  expect((await over).every(({ status }) => status === 'rejected')).toBe(true)
})
