import { expect, test } from 'vitest'
import { createManualClock } from '../manual-clock.js'
import { longPoll } from './long-poll.js'

function setUp() {
  const clock = createManualClock()
  const listeners = new Set<() => void>()
  const state = { news: undefined as string | undefined, reads: 0 }
  const poll = (waitMs: number, signal?: AbortSignal) =>
    longPoll({
      read: async () => {
        state.reads += 1
        return state.news
      },
      subscribe: (changed) => {
        listeners.add(changed)
        return () => listeners.delete(changed)
      },
      waitMs,
      clock,
      signal,
    })
  const change = (news: string | undefined) => {
    state.news = news
    for (const changed of listeners) changed()
  }
  return { clock, state, listeners, poll, change }
}

test('present news is returned at once', async () => {
  const { state, poll, listeners } = setUp()
  state.news = 'new'
  expect(await poll(1000)).toBe('new')
  expect(listeners.size).toBe(0)
})

test('later news is waited for, through changes without news', async () => {
  const { clock, poll, change, state } = setUp()
  const polling = poll(1000)
  await clock.advance(100)
  change(undefined)
  await clock.advance(100)
  change('new')
  expect(await polling).toBe('new')
  expect(state.reads).toBe(3)
  expect(clock.sleepers).toBe(0)
})

test('at the end of the time there is none', async () => {
  const { clock, poll, listeners } = setUp()
  const polling = poll(1000)
  await clock.advance(1000)
  expect(await polling).toBeUndefined()
  expect(listeners.size).toBe(0)
  expect(await poll(0)).toBeUndefined()
})

test('a change during a read is not missed', async () => {
  const clock = createManualClock()
  let changed = () => {}
  let reads = 0
  const news = await longPoll({
    read: async () => {
      reads += 1
      if (reads > 1) return 'new'
      changed()
      return undefined
    },
    subscribe: (listener) => {
      changed = listener
      return () => {}
    },
    waitMs: 0,
    clock,
  })
  expect(news).toBe('new')
})

test('an abort ends the wait and leaves no listener', async () => {
  const { clock, poll, listeners } = setUp()
  const leaving = new AbortController()
  const polling = poll(1000, leaving.signal)
  await clock.advance(10)
  leaving.abort(new Error('gone'))
  await expect(polling).rejects.toThrow('gone')
  expect(listeners.size).toBe(0)
  expect(clock.sleepers).toBe(0)
  await expect(poll(1000, leaving.signal)).rejects.toThrow('gone')
})

test('an abort during a read ends the wait', async () => {
  const clock = createManualClock()
  const leaving = new AbortController()
  const read = async () => {
    leaving.abort(new Error('gone'))
    return undefined
  }
  const polling = longPoll({ read, subscribe: () => () => {}, waitMs: 60_000, clock, signal: leaving.signal })
  await expect(Promise.race([polling, clock.advance(0)])).rejects.toThrow('gone')
  expect(clock.sleepers).toBe(0)
})
