import { describe, expect, test } from 'vitest'
import { setUp } from '../matchmaker.fixture.js'
import { social, running } from './backfill.fixture.js'

describe('players who leave a match', () => {
  test('a player id in place of a list of players who left is refused, because it is no list', async () => {
    const { matchmaker, join, run } = setUp()
    join('ann', 'ben')
    await run(6500)
    const matchId = matchmaker.getTicket('ann-ben')?.matchId ?? ''
    expect(() => matchmaker.playersLeft(matchId, 'ann' as never)).toThrow('playerIds: must be a list of player ids')
  })

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

  test('a party whose player leaves before it accepts to join a running match is cancelled and replaced', async () => {
    const teams = [{ name: 'side', count: 2, size: { min: 1, max: 3 } }]
    const queues = [{ ...social, teams, acceptance: { withinMs: 5000 } }]
    const { matchmaker, seen, join, run, status } = setUp({ queues })
    for (const id of ['ann', 'ben']) join(id)
    await run(250)
    for (const id of ['ann', 'ben']) matchmaker.acceptMatch(id)
    await run(6500)
    const matchId = matchmaker.getTicket('ann')?.matchId ?? ''
    const { id } = matchmaker.createBackfill({ matchId })
    join('cas', 'cat')
    await run(250)
    matchmaker.acceptMatch('cas-cat', 'cas')
    expect(matchmaker.inspect().matches[0]?.playerIds).toEqual(['ann', 'ben', 'cas', 'cat'])
    void matchmaker.playersLeft(matchId, ['cas', 'ben'])
    expect(['ann', 'ben', 'cas-cat'].map(status)).toEqual(['HOST_ASSIGNED', 'HOST_ASSIGNED', 'CANCELLED'])
    expect(seen.playersLeft).toMatchObject([{ playerIds: ['ben', 'cas'], remaining: 1 }])
    expect(matchmaker.getTicket('ben')?.left).toEqual(['ben'])
    expect(matchmaker.inspect().matches[0]?.playerIds).toEqual(['ann'])
    expect(matchmaker.getBackfill(id)?.teams).toMatchObject([
      { slots: 2, players: ['ann'] },
      { slots: 3, players: [] },
    ])
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

  test('with `replaceLeavers`, a player who cancels during deployment is replaced once the match runs', async () => {
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
