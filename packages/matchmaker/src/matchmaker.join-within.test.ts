import { createManualClock } from '@muster/core/clock'
import { describe, expect, test } from 'vitest'
import { deploy, duel, setUp } from './matchmaker.fixture.js'
import { createMemoryServerLog } from '@muster/hosting/internal'
import { createTestService } from '@muster/hosting/service-fixture'

const queues = [{ ...duel, deploy: { ...deploy, joinWithinMs: 20_000 } }]

/** Starts a match of ann and ben, who were just sent to their server. */
async function assigned(options: Parameters<typeof setUp>[0] = {}) {
  const world = setUp({ queues, ...options })
  const { matchmaker, service, join, run, status } = world
  join('ann', 'ben')
  while (status('ann-ben') !== 'HOST_ASSIGNED') await run(250)
  const matchId = matchmaker.getTicket('ann-ben')?.matchId ?? ''
  const variables = service.calls.create[0]?.environment_variables
  const secret = variables?.find(({ key }) => key === 'MM_MATCH_SECRET')?.value ?? ''
  expect(secret).not.toBe('')
  return { ...world, matchId, secret }
}

describe('a match with joinWithinMs', () => {
  test('a match with joinWithinMs ends when no player has joined in time, and its players are free', async () => {
    const { matchmaker, service, seen, run, join } = await assigned()
    await run(19_000)
    expect(service.unstopped()).toEqual(['r1'])
    await run(3000)
    expect(service.unstopped()).toEqual([])
    expect(seen.deploymentStopped).toMatchObject([{ requestId: 'r1', reason: 'nobody-joined' }])
    expect(matchmaker.getTicket('ann-ben')).toMatchObject({ ended: { reason: 'nobody-joined' } })
    expect(matchmaker.inspect().matches).toEqual([])
    expect(join('ben').status).toBe('SEARCHING')
  })

  test('a match with joinWithinMs continues once its server has reported one of its players', async () => {
    const { matchmaker, service, matchId, secret, run } = await assigned()
    await run(19_000)
    expect(matchmaker.playerCame(matchId, secret, 'ben')).toBe(true)
    await run(60_000)
    expect(service.unstopped()).toEqual(['r1'])
  })

  test('a match with joinWithinMs ends if no valid report names a player who is still in the match', async () => {
    const { matchmaker, seen, matchId, secret, run } = await assigned()
    expect(matchmaker.playerCame(matchId, secret, 'eve')).toBe(true)
    expect(matchmaker.playerCame(matchId, `${secret.slice(1)}0`, 'ann')).toBe(false)
    expect(matchmaker.playerCame('nowhere', secret, 'ann')).toBe(false)
    matchmaker.playersLeft(matchId, ['ben'])
    expect(matchmaker.playerCame(matchId, secret, 'ben')).toBe(true)
    await run(22_000)
    expect(seen.deploymentStopped).toMatchObject([{ requestId: 'r1', reason: 'nobody-joined' }])
  })

  test('a match ends as `nobody-joined` if its players were reported only before its assignment', async () => {
    const slow = [{ ...duel, deploy: { ...deploy, joinWithinMs: 20_000, warmUpMs: 10_000 } }]
    const { matchmaker, service, seen, join, run, status } = setUp({ queues: slow })
    join('ann', 'ben')
    await run(10_000)
    const [match] = matchmaker.inspect().matches
    const variables = service.calls.create[0]?.environment_variables
    const secret = variables?.find(({ key }) => key === 'MM_MATCH_SECRET')?.value ?? ''
    expect(match).toMatchObject({ phase: 'warming' })
    expect(matchmaker.playerCame(match?.matchId ?? '', secret, 'ann')).toBe(true)
    await run(10_000)
    expect(status('ann-ben')).toBe('HOST_ASSIGNED')
    await run(20_000)
    expect(seen.deploymentStopped).toMatchObject([{ reason: 'nobody-joined' }])
  })

  test('a match with joinWithinMs continues after a restart, because it is unknown who joined before', async () => {
    const clock = createManualClock()
    const service = createTestService({ clock })
    const common = { clock, deployments: service.deployments, serverLog: createMemoryServerLog() }
    const first = setUp({ queues, ...common })
    first.join('ann', 'ben')
    await first.matchmaker.tick()
    for (let passed = 0; passed < 10_000; passed += 250) {
      await clock.advance(250)
      await first.matchmaker.tick()
    }
    expect(first.status('ann-ben')).toBe('HOST_ASSIGNED')
    const second = setUp({ queues, ...common })
    for (let passed = 0; passed < 60_000; passed += 250) {
      await second.matchmaker.tick()
      await clock.advance(250)
    }
    expect(second.matchmaker.inspect().matches).toMatchObject([{ phase: 'running' }])
    expect(service.unstopped()).toEqual(['r1'])
  })
})

test('a match without joinWithinMs continues if no player joins', async () => {
  const { service, run } = await assigned({ queues: [duel] })
  await run(60_000)
  expect(service.unstopped()).toEqual(['r1'])
})
