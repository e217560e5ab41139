import { expect, test } from 'vitest'
import { createManualClock } from '../time.js'
import { createAnswerCache, mayKeep } from './cache.js'

test('keeps an answer for its time to live on the given clock', async () => {
  const clock = createManualClock()
  const cache = createAnswerCache(1000, clock)
  const answer = { locations: [] }
  cache.set('/v1/locations', answer)
  await clock.advance(999)
  expect(cache.get('/v1/locations')).toBe(answer)
  expect(cache.get('/v1/locations?page=2')).toBeUndefined()
  await clock.advance(2)
  expect(cache.get('/v1/locations')).toBeUndefined()
  expect(clock.sleepers).toBe(0)
})

test('keeps a bounded number of answers, dropping the oldest', () => {
  const cache = createAnswerCache(1000, createManualClock())
  for (let page = 0; page < 1000; page += 1) cache.set(`${page}`, {})
  expect(cache.get('0')).toBeUndefined()
  expect(cache.get('999')).toBeDefined()
})

test('keeps nothing with a time to live of 0', () => {
  const cache = createAnswerCache(0, createManualClock())
  cache.set('key', {})
  expect(cache.get('key')).toBeUndefined()
})

test('keeps only locations and beacons, except locations chosen by capacity', () => {
  expect(mayKeep('locations.list', { page: 1, tags: true })).toBe(true)
  expect(mayKeep('locations.beacons', {})).toBe(true)
  expect(mayKeep('locations.list', { app: 'a', version: 'v' })).toBe(false)
  expect(mayKeep('deployments.list', {})).toBe(false)
})
