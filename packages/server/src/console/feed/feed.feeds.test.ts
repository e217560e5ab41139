import type { StreamEvent } from '@muster/core/internal'
import { expect, test } from 'vitest'
import { createFeeds } from './feed.js'

function open({ inAll = 3, perCaller = 2 } = {}) {
  let now = 0
  let begun = 0
  const feeds = createFeeds({ inAll, perCaller, begun: () => (begun += 1), now: () => now })
  const listen = (caller: string, mayStay = () => true) => {
    const gone = new AbortController()
    let greetings = 0
    const events = feeds.listen(caller, () => `"hello ${(greetings += 1)}"`, mayStay)(gone.signal)
    return { next: () => events.next(), gone }
  }
  return {
    feeds,
    listen,
    begun: () => begun,
    pass: (ms: number) => {
      now += ms
    },
  }
}

const told = async (next: () => Promise<IteratorResult<StreamEvent>>) => {
  const { value, done } = await next()
  return done === true ? 'the end' : `${value.event} ${value.json ?? 'null'}`
}

test('a slow reader of the console feed gets only the newest state, but every history step', async () => {
  const { feeds, listen } = open()
  const { next } = listen('ann')
  expect(await told(next)).toBe('hello "hello 1"')
  for (const state of ['1', '2', '3']) feeds.state(state)
  feeds.step('10')
  feeds.step('20')
  expect([await told(next), await told(next), await told(next)]).toEqual(['step 10', 'step 20', 'now 3'])
  const waiting = told(next)
  feeds.state('4')
  expect(await waiting).toBe('now 4')
})

test('a reader of the console feed that is a minute behind gets the whole history again', async () => {
  const { feeds, listen } = open()
  const { next } = listen('ann')
  await next()
  for (let step = 0; step < 1000; step += 1) feeds.step(String(step))
  expect(await told(next)).toBe('hello "hello 2"')
  feeds.step('1000')
  expect(await told(next)).toBe('step 1000')
})

test('a console feed beyond the limit is refused, unless an open feed is not being read and can end', async () => {
  const { feeds, listen, pass } = open()
  const stuck = listen('ann')
  await stuck.next()
  const awake = listen('ann')
  await awake.next()
  expect(() => listen('ann')).toThrow('Too many console pages are open. Close one.')
  const other = listen('ben')
  await other.next()
  expect(() => listen('cem')).toThrow('Too many console pages are open. Close one.')
  pass(31_000)
  feeds.state('1')
  await awake.next()
  await other.next()
  void awake.next()
  void other.next()
  const later = listen('cem')
  expect(await told(later.next)).toBe('hello "hello 1"')
  expect(await told(stuck.next)).toBe('bye null')
  expect(await told(stuck.next)).toBe('the end')
  expect(feeds.count()).toBe(3)
})

test('a disconnected reader of the console feed is removed, even if it has read nothing', async () => {
  const { feeds, listen, begun } = open()
  const one = listen('ann')
  const other = listen('ben')
  await other.next()
  const waiting = told(other.next)
  one.gone.abort()
  other.gone.abort()
  expect(await waiting).toBe('the end')
  expect(feeds.count()).toBe(0)
  expect(begun()).toBe(1)
  listen('ann')
  expect(begun()).toBe(2)
})

test('a console feed ends within seconds once its operator may not listen any more', async () => {
  const { feeds, listen, pass } = open()
  let may = true
  const { next } = listen('ann', () => may)
  await next()
  pass(5000)
  feeds.state('1')
  expect(await told(next)).toBe('now 1')
  may = false
  feeds.state('2')
  expect(await told(next)).toBe('now 2')
  pass(5000)
  feeds.state('3')
  expect([await told(next), await told(next)]).toEqual(['bye null', 'the end'])
  expect(feeds.count()).toBe(0)
})
