import { describe, expect, test } from 'vitest'
import { setUp } from '../matchmaker.fixture.js'
import { social, running } from './backfill.fixture.js'

describe('players who leave a match', () => {
  test('a running match ends with its server when the only joining player declines', async () => {
    const { matchmaker, service, seen, join, run } = setUp({ queues: [{ ...social, acceptance: { withinMs: 5000 } }] })
    join('ann')
    join('ben')
    await run(250)
    matchmaker.acceptMatch('ann')
    matchmaker.acceptMatch('ben')
    await run(6500)
    const matchId = matchmaker.getTicket('ann')?.matchId ?? ''
    matchmaker.createBackfill({ matchId })
    join('cas')
    await run(250)
    matchmaker.playersLeft(matchId, ['ann', 'ben'])
    expect(service.unstopped()).toEqual(['r1'])
    matchmaker.declineMatch('cas')
    await run(500)
    expect(service.unstopped()).toEqual([])
    expect(seen.deploymentStopped).toMatchObject([{ reason: 'left' }])
    expect(matchmaker.inspect()).toMatchObject({ matches: [], queues: [{ backfills: 0 }] })
  })

  test('a player who leaves a running match opens a slot for a backfill; the last stops the server', async () => {
    const { matchmaker, service, seen, run, matchId } = await running()
    matchmaker.playersLeft(matchId, ['ann', 'nobody'])
    matchmaker.playersLeft(matchId, ['ann'])
    expect(seen.playersLeft).toEqual([{ matchId, queue: 'duel', playerIds: ['ann'], remaining: 1 }])
    expect(matchmaker.createBackfill({ matchId }).teams.map(({ slots }) => slots)).toEqual([2, 1])
    matchmaker.playersLeft(matchId, ['ben'])
    await run(500)
    expect(service.unstopped()).toEqual([])
    expect(seen.deploymentStopped).toMatchObject([{ requestId: 'r1', reason: 'left' }])
    await matchmaker.playersLeft(matchId, ['ben'])
    expect(seen.playersLeft).toHaveLength(2)
  })

  test('a player who leaves a match is removed from its open backfill', async () => {
    const { matchmaker, matchId } = await running()
    const { id } = matchmaker.createBackfill({ matchId })
    matchmaker.playersLeft(matchId, ['ann'])
    expect(matchmaker.getBackfill(id)).toMatchObject({ version: 2, teams: [{ players: [] }, { players: ['ben'] }] })
  })

  test('a ticket cancelled during the deployment is replaced in the running match if nobody joins before', async () => {
    const { matchmaker, join, run, status } = setUp({ queues: [{ ...social, replaceLeavers: true }] })
    join('ann')
    join('ben')
    await run(1000)
    matchmaker.cancelTicket('ann')
    await run(6000)
    expect(status('ben')).toBe('HOST_ASSIGNED')
    join('cas')
    await run(250)
    expect(matchmaker.getTicket('cas')).toMatchObject({
      status: 'HOST_ASSIGNED',
      matchId: matchmaker.getTicket('ben')?.matchId,
    })
  })
})
