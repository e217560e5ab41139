import { describe, expect, test } from 'vitest'
import {
  BackfillExists,
  InvalidBackfill,
  MatchNotRunning,
  BackfillVersionConflict,
  UnknownBackfill,
  UnknownMatch,
} from '../errors.js'
import { setUp } from '../matchmaker.fixture.js'
import { social, running } from './backfill.fixture.js'

describe('a backfill', () => {
  test('a backfill has all open slots by default, and players who join by it are assigned immediately', async () => {
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
    expect(seen.backfillJoined).toMatchObject([{ matchId, backfillId: 'more' }, { matchId }])
    expect(seen.serverAssigned?.slice(1)).toMatchObject([
      { requestId: 'r1', tickets: [{ id: 'cas' }] },
      { tickets: [{ id: 'dee' }] },
    ])
    expect(service.calls.create).toHaveLength(1)
    expect(matchmaker.inspect().matches[0]?.playerIds).toEqual(['ann', 'ben', 'cas', 'dee'])
  })

  test('a backfill gains exactly one slot when a player leaves, even if the leave is reported twice', async () => {
    const teams = [{ name: 'all', size: { min: 1, max: 6 } }]
    const { matchmaker, join, run, status } = setUp({ queues: [{ ...social, teams }] })
    join('ann')
    await run(6500)
    const { matchId = '' } = matchmaker.getTicket('ann') ?? {}
    matchmaker.createBackfill({ id: 'b', matchId, teams: [{ name: 'all', slots: 2 }] })
    join('ben')
    await run(250)
    void matchmaker.playersLeft(matchId, ['ann'])
    // A repeated report frees no further place.
    void matchmaker.playersLeft(matchId, ['ann'])
    expect(matchmaker.getBackfill('b')?.teams).toEqual([{ name: 'all', slots: 2, players: ['ben'] }])
    join('cas')
    join('dee')
    await run(500)
    expect([status('cas'), status('dee')]).toEqual(['HOST_ASSIGNED', 'HOST_ASSIGNED'])
    expect(matchmaker.getBackfill('b')).toMatchObject({ status: 'FILLED' })
  })

  test('a backfill gains no slot for a leaving player who was not in its list of players', async () => {
    const { matchmaker, matchId } = await running()
    const teams = [{ name: 'side-1', slots: 1, players: [{ id: 'cas' }] }]
    matchmaker.createBackfill({ id: 'b', matchId, teams })
    void matchmaker.playersLeft(matchId, ['ann'])
    expect(matchmaker.getBackfill('b')?.teams[0]).toEqual({ name: 'side-1', slots: 1, players: ['cas'] })
  })

  test('a backfill has the slots that the caller states, in addition to the stated players', async () => {
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

  test('a backfill takes at most `seats` players, and fills the team with most open places first', async () => {
    const { matchmaker, join, run, matchId } = await running()
    expect(() => matchmaker.createBackfill({ matchId, seats: 0 })).toThrow('backfill: seats')
    const { id, teams } = matchmaker.createBackfill({ matchId, seats: 1 })
    expect(teams.map(({ slots }) => slots)).toEqual([1, 0])
    join('cas')
    join('dee')
    await run(250)
    expect(matchmaker.getBackfill(id)).toMatchObject({ status: 'FILLED', tickets: ['cas'] })
    expect(matchmaker.createBackfill({ matchId, seats: 5 }).teams.map(({ slots }) => slots)).toEqual([0, 1])
  })

  test.each([
    ['an unknown team', 'backfill: teams.0.name: the match has no such team, got "nosuch"', [{ name: 'nosuch' }]],
    [
      'more slots than the team has free',
      'backfill: teams.0.slots: must be at most 1, the free places of the team, got 2',
      [{ name: 'side-1', slots: 2 }],
    ],
    ['no free slots', 'backfill: teams: no team has a free place', [{ name: 'side-1', slots: 0 }]],
    ['an empty list of teams', 'backfill: teams: ', []],
  ])('a backfill is refused with %s', async (_, message, teams) => {
    const { matchmaker, matchId } = await running()
    expect(() => matchmaker.createBackfill({ matchId, teams })).toThrow(message)
    expect(() => matchmaker.createBackfill({ matchId, teams })).toThrow(InvalidBackfill)
  })

  test('a match has one open backfill, which a repeated create with its id returns', async () => {
    const { matchmaker, seen, matchId } = await running()
    const first = matchmaker.createBackfill({ id: 'b', matchId })
    expect(matchmaker.createBackfill({ id: 'b', matchId })).toEqual(first)
    expect(() => matchmaker.createBackfill({ matchId })).toThrow(BackfillExists)
    expect(matchmaker.cancelBackfill('b')).toMatchObject({ status: 'CANCELLED', version: 2 })
    expect(matchmaker.cancelBackfill('b').version).toBe(2)
    expect(seen.backfillChanged).toHaveLength(1)
    expect(matchmaker.createBackfill({ matchId }).status).toBe('OPEN')
  })

  test('a backfill is refused for a match that does not run and for an unknown match', async () => {
    const { matchmaker, join, run, clock } = setUp({ queues: [social] })
    join('ann')
    join('ben')
    await run(500)
    expect(() => matchmaker.createBackfill({ matchId: matchmaker.getTicket('ann')?.matchId ?? '' })).toThrow(
      MatchNotRunning,
    )
    expect(() => matchmaker.createBackfill({ matchId: 'nosuch' })).toThrow(UnknownMatch)
    expect(() => matchmaker.cancelBackfill('nosuch')).toThrow(UnknownBackfill)
    await clock.advance(0)
  })

  test('an update of a backfill with a stale version, which misses joined players, is refused', async () => {
    const { matchmaker, join, run, matchId } = await running()
    const { id, version } = matchmaker.createBackfill({ matchId })
    join('cas')
    await run(250)
    const teams = [{ name: 'side-1', slots: 0 }]
    expect(() => matchmaker.updateBackfill(id, { version, teams })).toThrow(expect.objectContaining({ version: 2 }))
    expect(() => matchmaker.updateBackfill(id, { version, teams })).toThrow(BackfillVersionConflict)
    const team = matchmaker.getTicket('cas')?.team
    const other = team === 'side-1' ? 'side-2' : 'side-1'
    const updated = matchmaker.updateBackfill(id, { version: 2, teams: [{ name: other, slots: 0 }] })
    expect(updated).toMatchObject({ version: 3, status: 'FILLED' })
    expect(() => matchmaker.updateBackfill(id, { version: 3, teams })).toThrow(BackfillVersionConflict)
  })

  test('a ticket found for a backfill keeps searching if the backfill changes in the same tick', async () => {
    const { matchmaker, join, run, clock } = setUp({ queues: [{ ...social, name: 'other' }, social] })
    join('ann')
    join('ben')
    await run(6500)
    const { id, version } = matchmaker.createBackfill({ matchId: matchmaker.getTicket('ann')?.matchId ?? '' })
    // A match of the other queue is claimed earlier in the same tick. Its listener then changes the backfill.
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

  test('a backfill applies the limits from when its match was found and the limits of joining players', async () => {
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
    play('ben', 700)
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

  test('with `backfill: last`, an open backfill gets players while servers are short for many matches', async () => {
    const options = { maxServers: 3, maxStarting: 3 }
    const { matchmaker, clock, join, matchId } = await running({ backfill: 'last' }, options)
    const found: string[] = []
    matchmaker.on('matchFound', (match) => void found.push(match.matchId))
    const { id } = matchmaker.createBackfill({ matchId })
    for (let nth = 0; nth < 4000; nth += 1) join(`p${nth}`)
    // One server becomes free before each tick.
    for (let nth = 0; nth < 4; nth += 1) {
      for (const over of found.splice(0)) await matchmaker.stopMatch(over, { until: 'recorded' })
      await matchmaker.tick()
      await clock.advance(250)
    }
    expect(matchmaker.getBackfill(id)).toMatchObject({ status: 'FILLED' })
  })

  test('a backfill waits for joining players to accept, and reopens the slot of a player who declines', async () => {
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
