import { ServerError } from '@muster/core'
import { describe, expect, test } from 'vitest'
import {
  BackfillExists,
  InvalidBackfill,
  NotRunning,
  StaleBackfill,
  UnknownBackfill,
  UnknownMatch,
} from '../../errors.js'
import { deploy, setUp } from '../../matchmaker.fixture.js'
import type { QueueDefinition } from '../../queues/queue.js'

const social: QueueDefinition = {
  name: 'duel',
  teams: [{ name: 'side', count: 2, size: { min: 1, max: 2 } }],
  fillForMs: 0,
  deploy,
}

/** A match of ann against ben that runs, and could take two more. */
async function running(queue: Partial<QueueDefinition> = {}) {
  const all = setUp({ queues: [{ ...social, ...queue }] })
  all.join('ann')
  all.join('ben')
  await all.run(6500)
  const { matchId = '', assignment } = all.matchmaker.getTicket('ann') ?? {}
  expect(all.status('ann')).toBe('HOST_ASSIGNED')
  return { ...all, matchId, assignment }
}

describe('backfill', () => {
  test('by itself asks for all that the teams lack; who joins is told the server at once', async () => {
    const { matchmaker, service, seen, join, run, matchId, assignment } = await running()
    const created = matchmaker.createBackfill({ id: 'more', matchId })
    expect(created).toMatchObject({
      version: 1,
      status: 'OPEN',
      queue: 'duel',
      teams: [
        { name: 'side-1', slots: 1, players: ['ann'] },
        { name: 'side-2', slots: 1, players: ['ben'] },
      ],
    })
    const { createdAt } = join('cas')
    await run(250)
    expect(matchmaker.getTicket('cas')).toMatchObject({
      status: 'HOST_ASSIGNED',
      matchId,
      assignment,
      queue: 'duel',
      createdAt,
    })
    expect(matchmaker.getBackfill('more')).toMatchObject({ status: 'OPEN', version: 2, tickets: ['cas'] })
    join('dee')
    await run(250)
    expect(matchmaker.getBackfill('more')).toMatchObject({
      status: 'FILLED',
      tickets: ['cas', 'dee'],
      teams: [
        { slots: 0, players: expect.arrayContaining(['ann']) },
        { slots: 0, players: expect.arrayContaining(['ben']) },
      ],
    })
    expect(seen.joined).toMatchObject([{ matchId, backfillId: 'more' }, { matchId }])
    expect(seen.assigned?.slice(1)).toMatchObject([
      { requestId: 'r1', tickets: [{ id: 'cas' }] },
      { tickets: [{ id: 'dee' }] },
    ])
    expect(service.calls.create).toHaveLength(1)
    expect(matchmaker.inspect().matches[0]?.playerIds).toEqual(['ann', 'ben', 'cas', 'dee'])
  })

  test('asks for what it is told, with the players who are there', async () => {
    const { matchmaker, join, run, matchId } = await running()
    const players = [{ id: 'x' }]
    const { teams } = matchmaker.createBackfill({ matchId, teams: [{ name: 'side-2', slots: 1, players }] })
    expect(teams).toEqual([
      { name: 'side-1', slots: 0, players: ['ann'] },
      { name: 'side-2', slots: 1, players: ['x'] },
    ])
    join('cas')
    await run(250)
    expect(matchmaker.getTicket('cas')).toMatchObject({ matchId, team: 'side-2' })
  })

  test.each([
    ['nosuch', 'backfill: teams.0.name: the match has no such team, got "nosuch"', [{ name: 'nosuch' }]],
    ['too many', 'backfill: teams.0.slots: the team takes 1 more at most, got 2', [{ name: 'side-1', slots: 2 }]],
    ['nobody', 'backfill: teams: no team takes anyone', [{ name: 'side-1', slots: 0 }]],
    ['nothing', 'backfill: teams: ', []],
  ])('refused: %s', async (_, message, teams) => {
    const { matchmaker, matchId } = await running()
    expect(() => matchmaker.createBackfill({ matchId, teams })).toThrow(message)
    expect(() => matchmaker.createBackfill({ matchId, teams })).toThrow(InvalidBackfill)
  })

  test('one that is open at a time; the same one twice is once', async () => {
    const { matchmaker, seen, matchId } = await running()
    const first = matchmaker.createBackfill({ id: 'b', matchId })
    expect(matchmaker.createBackfill({ id: 'b', matchId })).toEqual(first)
    expect(() => matchmaker.createBackfill({ matchId })).toThrow(BackfillExists)
    expect(matchmaker.cancelBackfill('b')).toMatchObject({ status: 'CANCELLED', version: 2 })
    expect(matchmaker.cancelBackfill('b').version).toBe(2)
    expect(seen.backfillChanged).toHaveLength(1)
    expect(matchmaker.createBackfill({ matchId }).status).toBe('OPEN')
  })

  test('of a match that does not run, or that there is not', async () => {
    const { matchmaker, join, run, clock } = setUp({ queues: [social] })
    join('ann')
    join('ben')
    await run(500)
    expect(() => matchmaker.createBackfill({ matchId: matchmaker.getTicket('ann')?.matchId ?? '' })).toThrow(NotRunning)
    expect(() => matchmaker.createBackfill({ matchId: 'nosuch' })).toThrow(UnknownMatch)
    expect(() => matchmaker.cancelBackfill('nosuch')).toThrow(UnknownBackfill)
    await clock.advance(0)
  })

  test('stale writes are refused: whoever writes must know who came in the meantime', async () => {
    const { matchmaker, join, run, matchId } = await running()
    const { id, version } = matchmaker.createBackfill({ matchId })
    join('cas')
    await run(250)
    const teams = [{ name: 'side-1', slots: 0 }]
    expect(() => matchmaker.updateBackfill(id, { version, teams })).toThrow(expect.objectContaining({ version: 2 }))
    expect(() => matchmaker.updateBackfill(id, { version, teams })).toThrow(StaleBackfill)
    const team = matchmaker.getTicket('cas')?.team
    const other = team === 'side-1' ? 'side-2' : 'side-1'
    const updated = matchmaker.updateBackfill(id, { version: 2, teams: [{ name: other, slots: 0 }] })
    expect(updated).toMatchObject({ version: 3, status: 'FILLED' })
    expect(() => matchmaker.updateBackfill(id, { version: 3, teams })).toThrow(StaleBackfill)
  })

  test('who was grouped for it before it changed does not come', async () => {
    const { matchmaker, join, run, clock } = setUp({ queues: [{ ...social, name: 'other' }, social] })
    join('ann')
    join('ben')
    await run(6500)
    const { id, version } = matchmaker.createBackfill({ matchId: matchmaker.getTicket('ann')?.matchId ?? '' })
    // The match of the other queue is claimed first, in the same tick.
    matchmaker.on(
      'matchFound',
      () => void matchmaker.updateBackfill(id, { version, teams: [{ name: 'side-2', slots: 1 }] }),
    )
    for (const player of ['x', 'y'])
      matchmaker.createTicket({ queue: 'other', players: [{ id: player, ip: '198.51.100.7' }] })
    join('cas')
    await matchmaker.tick()
    expect(matchmaker.getTicket('cas')).toMatchObject({ status: 'SEARCHING' })
    expect(matchmaker.getBackfill(id)).toMatchObject({
      version: 2,
      status: 'OPEN',
      tickets: [],
      teams: [{ slots: 0 }, { slots: 1 }],
    })
    await clock.advance(0)
  })

  test('the end of the match takes it along, and it can be read for a while', async () => {
    const { matchmaker, join, run, status, matchId } = await running()
    const { id } = matchmaker.createBackfill({ matchId })
    await matchmaker.stopMatch(matchId)
    expect(matchmaker.getBackfill(id)?.status).toBe('CANCELLED')
    join('cas')
    await run(1000)
    expect(status('cas')).toBe('SEARCHING')
    await run(60_000)
    expect(matchmaker.getBackfill(id)).toBeUndefined()
  })

  describe('of a match whose server is being stopped, however long that takes,', () => {
    /** Two seconds after the assignment the server is to be stopped, which the service does not do. */
    const ending = (queue: Partial<QueueDefinition> = {}) =>
      setUp({
        queues: [{ ...social, ...queue, deploy: { ...deploy, maxDurationMs: 2000 } }],
        service: { fault: (method) => (method === 'stop' ? { error: new ServerError('down') } : undefined) },
      })

    test('keeps nobody from other matches', async () => {
      const { matchmaker, join, run, service } = ending()
      join('ann')
      join('ben')
      await run(6500)
      const { matchId = '' } = matchmaker.getTicket('ann') ?? {}
      const { id } = matchmaker.createBackfill({ matchId })
      await run(4000)
      expect(matchmaker.inspect().matches).toMatchObject([{ matchId, phase: 'stopping' }])
      join('cas')
      join('dee')
      await run(1000)
      expect(matchmaker.getBackfill(id)?.status).toBe('CANCELLED')
      expect(matchmaker.getTicket('cas')).toMatchObject({ status: 'MATCH_FOUND' })
      expect(service.calls.create).toHaveLength(2)
    })

    test('sends nobody there who accepts too late', async () => {
      const { matchmaker, join, run, status } = ending({ acceptance: { withinMs: 60_000 } })
      for (const id of ['ann', 'ben']) join(id)
      await run(250)
      for (const id of ['ann', 'ben']) matchmaker.acceptMatch(id)
      await run(6000)
      const { matchId = '' } = matchmaker.getTicket('ann') ?? {}
      matchmaker.createBackfill({ matchId })
      join('cas')
      await run(250)
      expect(matchmaker.getTicket('cas')).toMatchObject({ status: 'MATCH_FOUND', matchId })
      await run(4000)
      expect(matchmaker.inspect().matches).toMatchObject([{ matchId, phase: 'stopping' }])
      matchmaker.acceptMatch('cas')
      expect(status('cas')).toBe('SEARCHING')
    })
  })

  test('the end of the server takes it along', async () => {
    const { matchmaker, join, run, status } = setUp({
      queues: [social],
      service: { fate: () => ({ readyMs: 1000, endMs: 10_000 }) },
    })
    join('ann')
    join('ben')
    await run(4000)
    const { id } = matchmaker.createBackfill({ matchId: matchmaker.getTicket('ann')?.matchId ?? '' })
    await run(40_000)
    expect(matchmaker.getBackfill(id)?.status).toBe('CANCELLED')
    join('cas')
    await run(1000)
    expect(status('cas')).toBe('SEARCHING')
  })

  test.each([
    ['first', 'r1'],
    ['last', 'r2'],
  ] as const)('comes %s', async (backfill, server) => {
    const { matchmaker, join, run, matchId } = await running({ backfill })
    matchmaker.createBackfill({ matchId })
    join('cas')
    join('dee')
    await run(6500)
    expect(matchmaker.getTicket('cas')?.assignment?.fqdn).toBe(`${server}.example.com`)
  })

  test('begins with the limits that were in force when the match was found, but those of who joins count too', async () => {
    const { matchmaker, run, clock } = setUp({
      queues: [
        {
          ...social,
          teams: [{ name: 'side', count: 2, size: 1 }],
          rules: [
            {
              kind: 'difference',
              attribute: 'skill',
              max: [
                { afterMs: 0, value: 50 },
                { afterMs: 10_000, value: 500 },
              ],
            },
          ],
        },
      ],
    })
    const play = (id: string, skill: number) =>
      matchmaker.createTicket({ id, queue: 'duel', players: [{ id, ip: '198.51.100.7', attributes: { skill } }] })
    play('ann', 1000)
    play('ben', 1300)
    play('old', 1400)
    await run(18_000)
    const { matchId = '' } = matchmaker.getTicket('ben') ?? {}
    expect(matchmaker.getTicket('ann')).toMatchObject({ status: 'HOST_ASSIGNED', matchId })
    play('new', 1100)
    await clock.advance(1000)
    matchmaker.playersLeft(matchId, ['ben'])
    matchmaker.createBackfill({ matchId })
    await run(250)
    expect(matchmaker.getTicket('old')).toMatchObject({ status: 'HOST_ASSIGNED', matchId })
    expect(matchmaker.getTicket('new')).toMatchObject({ status: 'SEARCHING' })
  })

  test('in a queue with acceptance, whoever joins is asked; who does not accept makes room again', async () => {
    const all = setUp({ queues: [{ ...social, acceptance: { withinMs: 5000 } }] })
    const { matchmaker, join, run, status } = all
    join('ann')
    join('ben')
    await run(250)
    matchmaker.acceptMatch('ann')
    matchmaker.acceptMatch('ben')
    await run(6500)
    const matchId = matchmaker.getTicket('ann')?.matchId ?? ''
    const { id } = matchmaker.createBackfill({ matchId })
    join('cas')
    await run(250)
    expect(matchmaker.getTicket('cas')).toMatchObject({ status: 'MATCH_FOUND', acceptance: { accepted: [] } })
    await run(5250)
    expect(status('cas')).toBe('CANCELLED')
    expect(matchmaker.getBackfill(id)?.teams.map(({ slots }) => slots)).toEqual([1, 1])
    join('dee')
    await run(250)
    expect(matchmaker.acceptMatch('dee')).toMatchObject({ status: 'HOST_ASSIGNED', matchId })
    expect(status('ann')).toBe('HOST_ASSIGNED')
  })
})

describe('players who leave', () => {
  test('until only somebody is left who was asked to come, and does not: the server goes', async () => {
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

  test('make room, and the last one takes the server along', async () => {
    const { matchmaker, service, seen, run, matchId } = await running()
    matchmaker.playersLeft(matchId, ['ann', 'nobody'])
    matchmaker.playersLeft(matchId, ['ann'])
    expect(seen.playersLeft).toEqual([{ matchId, queue: 'duel', playerIds: ['ann'], remaining: 1 }])
    expect(matchmaker.createBackfill({ matchId }).teams.map(({ slots }) => slots)).toEqual([2, 1])
    matchmaker.playersLeft(matchId, ['ben'])
    await run(500)
    expect(service.unstopped()).toEqual([])
    expect(seen.deploymentStopped).toMatchObject([{ requestId: 'r1', reason: 'left' }])
    expect(() => matchmaker.playersLeft(matchId, ['ben'])).toThrow(UnknownMatch)
  })

  test('are not counted by an open backfill any more', async () => {
    const { matchmaker, matchId } = await running()
    const { id } = matchmaker.createBackfill({ matchId })
    matchmaker.playersLeft(matchId, ['ann'])
    expect(matchmaker.getBackfill(id)).toMatchObject({ version: 2, teams: [{ players: [] }, { players: ['ben'] }] })
  })

  test('while the server is deployed are replaced, where the queue says so', async () => {
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
    expect(seen.returned).toBeUndefined()
    expect(service.calls.create).toHaveLength(1)
  })

  test('and whose replacement comes too late for the start, join the running match', async () => {
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

  test('all of them: the match dissolves and its server goes', async () => {
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
