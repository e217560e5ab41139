import type { FoundStories, Hello, Now } from '@muster/console/internal'
import { expect, test } from 'vitest'
import { serve } from '../http.fixture.js'
import { createScene } from '../scene.fixture.js'

test.each([
  [0, 0],
  [20, 3],
  [10_000, 500],
  [40_000, 0],
])('a console frame with %d queued players and %d matches has at most 64 KiB', async (players, matches) => {
  const { console, clock, errors } = await createScene({ players, matches })
  const { listen, ask, close } = await serve(console)
  const feed = await listen('looker')
  await feed.until<Hello>('hello')
  // With 40,000 players, the first survey takes several steps.
  await clock.advance(3000)
  let frame = await feed.next()
  for (let count = 0; count < 4; count += 1) {
    await clock.advance(500)
    frame = await feed.next()
  }
  expect(frame.event).toBe('now')
  expect(frame.bytes).toBeLessThanOrEqual(64 * 1024)
  const now = frame.data as Now
  const ranked = now.queues.find(({ name }) => name === 'ranked')
  expect(ranked).toMatchObject({ tickets: players, players, oldest: players === 0 ? null : expect.any(Number) })
  expect(ranked?.relaxed.reduce((sum, { tickets }) => sum + tickets, 0)).toBe(players)
  expect(now.map.waiting.length).toBeLessThanOrEqual(400)
  expect(now.map.waiting.reduce((sum, cluster) => sum + cluster.players, 0)).toBe(players)
  expect(now.map.servers.reduce((sum, { running }) => sum + running, 0)).toBe(matches)
  expect(now.servers.byState).toContainEqual({ state: 'running', count: matches })
  if (players > 0) {
    const { body } = await ask('/console/api/find?id=ticket-7', { token: 'looker' })
    expect((body as FoundStories).stories).toMatchObject([
      { kind: 'ticket', state: expect.stringContaining('searching') },
    ])
  }
  expect(errors).toEqual([])
  await console.close()
  await close()
})
