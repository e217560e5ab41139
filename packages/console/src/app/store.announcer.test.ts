import { expect, test } from 'vitest'
import { manualClock } from './manual-clock.fixture.js'
import { createAnnouncer } from './store.js'

test('the screen-reader announcer says at most one sentence in 4 s, and skips all but the latest sentence', () => {
  const clock = manualClock()
  const { said, say } = createAnnouncer(clock)
  say('one')
  say('two')
  say('three')
  expect(said.value).toBe('one')
  clock.advance(3999)
  expect(said.value).toBe('one')
  clock.advance(1)
  expect(said.value).toBe('three')
  clock.advance(4000)
  say('three')
  expect(said.value).toBe('three\u00a0')
})
