import type { MatchmakerEvents, Matchmaker } from '@muster/matchmaker'
import { expect, test } from 'vitest'
import { shareListeners } from './console.js'

test('each listener hears each event, by one subscription, which ends with the last of them', () => {
  const subscribed: ((event: MatchmakerEvents['queuePaused']) => void)[] = []
  let ended = 0
  const on = ((_name: string, listener: (event: MatchmakerEvents['queuePaused']) => void) => {
    subscribed.push(listener)
    return () => (ended += 1)
  }) as unknown as Matchmaker['on']
  const shared = shareListeners(on)
  const heard: string[] = []
  const first = shared('queuePaused', ({ queue }) => heard.push(`first ${queue}`))
  const second = shared('queuePaused', ({ queue }) => heard.push(`second ${queue}`))
  expect(subscribed).toHaveLength(1)
  subscribed[0]?.({ queue: 'duel' })
  expect(heard).toEqual(['first duel', 'second duel'])
  first()
  subscribed[0]?.({ queue: 'trio' })
  expect(heard.slice(2)).toEqual(['second trio'])
  expect(ended).toBe(0)
  second()
  expect(ended).toBe(1)
  shared('queuePaused', () => {})
  expect(subscribed).toHaveLength(2)
})
