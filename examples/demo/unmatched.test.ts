import { createManualClock } from '@muster/core/clock'
import { createMatchmaker } from '@muster/matchmaker'
import { expect, test } from 'vitest'
import { demoQueues, EXPIRE_MS } from './queues.js'
import { createUnmatched, unmatchedText } from './unmatched.js'

const nothing = async () => {
  throw new Error('nothing is deployed here')
}

test('the demo reads the reason of each unmatched ticket shortly before its expiry', async () => {
  const clock = createManualClock()
  const matchmaker = createMatchmaker({
    deployments: { create: nothing, get: nothing, stop: nothing, list: async () => ({ data: [], pagination: null }) },
    queues: demoQueues(undefined).map(({ definition }) => definition),
    clock,
  })
  const unmatched = createUnmatched(matchmaker, EXPIRE_MS, clock)
  const wait = (queue: string, id: string, roles: readonly string[]) => {
    const coordinates = { latitude: 50, longitude: 8 }
    const latencies = { Frankfurt: 20 }
    const player = { id, coordinates, latencies, roles, attributes: { skill: 1500 } }
    return matchmaker.createTicket({ id, queue, players: [player] })
  }
  for (let nth = 0; nth < 12; nth += 1) wait('ranked', `r${nth}`, ['damage', 'tank'])
  wait('duel', 'alone', [])
  matchmaker.start()
  for (let passed = 0; passed < EXPIRE_MS + 1000; passed += 250) {
    await clock.advance(250)
    await unmatched.look()
  }
  expect(matchmaker.getTicket('alone')?.cancelReason).toBe('expired')
  const reasons = [...unmatched.why.values()]
  expect([reasons.length, new Set(reasons)]).toEqual([
    13,
    new Set(['lacked a tank or a healer', 'had too few others left']),
  ])
  await clock.until(matchmaker.close())
})

test('the demo shows the reasons of unmatched tickets in one line, most players first', () => {
  expect(unmatchedText({ 'had too few others left': 3, 'lacked a tank or a healer': 9 })).toBe(
    '9 lacked a tank or a healer, 3 had too few others left',
  )
})
