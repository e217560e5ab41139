import { describe, expect, test } from 'vitest'
import { setUp } from '../matchmaker.fixture.js'
import { social, running } from './backfill.fixture.js'

describe('players who leave', () => {
  test('leave a match empty when the only joining player declines, and its server is stopped', async () => {
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

  test('open slots for a backfill, and the server is stopped when the last one leaves', async () => {
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

  test('are removed from an open backfill', async () => {
    const { matchmaker, matchId } = await running()
    const { id } = matchmaker.createBackfill({ matchId })
    matchmaker.playersLeft(matchId, ['ann'])
    expect(matchmaker.getBackfill(id)).toMatchObject({ version: 2, teams: [{ players: [] }, { players: ['ben'] }] })
  })

  test('while the server is deployed are replaced where the queue says so', async () => {
    const { matchmaker, service, seen, join, run, status } = setUp({ queues: [{ ...social, replaceLeavers: true }] })
    join('ann')
    join('ben')
    await run(1000)
    const { matchId } = matchmaker.getTicket('ben') ?? {}
    matchmaker.cancelTicket('ann')
    expect(matchmaker.getTicket('ben')).toMatchObject({ status: 'MATCH_FOUND', matchId })
    join('cas')
    await run(500)
    expect(matchmaker.getTicket('cas')).toMatchObject({ status: 'MATCH_FOUND', matchId, team: 'side-1' })
    await run(6000)
    expect([status('ann'), status('ben'), status('cas')]).toEqual(['CANCELLED', 'HOST_ASSIGNED', 'HOST_ASSIGNED'])
    expect(seen.ticketRequeued).toBeUndefined()
    expect(service.calls.create).toHaveLength(1)
  })

  test('are replaced in the running match when nobody joined before its start', async () => {
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

  test('before the start, all of them, dissolve the match and its server is stopped', async () => {
    const { matchmaker, service, join, run } = setUp({ queues: [{ ...social, replaceLeavers: true }] })
    join('ann')
    join('ben')
    await run(1000)
    matchmaker.cancelTicket('ann')
    matchmaker.cancelTicket('ben')
    await run(6000)
    expect(service.unstopped()).toEqual([])
    expect(matchmaker.inspect()).toMatchObject({ matches: [], queues: [{ backfills: 0 }] })
  })
})
