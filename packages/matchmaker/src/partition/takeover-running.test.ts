/** Another process takes over while matches run and people play. */
import { expect, test } from 'vitest'
import { createWorld, duel, takenOverAfter } from './leader.fixture.js'

const sides = {
  ...duel,
  matchSize: undefined,
  teams: [{ name: 'side', count: 2, size: { min: 1, max: 2 } }],
  fillForMs: 0,
}

test('after a takeover players are notified of a recorded server of which they were not yet notified', async () => {
  const world = createWorld()
  const first = await world.lead({ ledger: world.hearsOnlyMatches })
  first.leader.load([world.join('ann'), world.join('ben')])
  await first.run(6500)
  first.leader.abandon()
  expect(world.state('ann')?.status).toBe('MATCH_FOUND')
  const { changes, seen } = await world.lead()
  expect(changes).toMatchObject([
    { id: 'ann', status: 'HOST_ASSIGNED', assignment: { fqdn: 'r1.example.com' } },
    { id: 'ben', status: 'HOST_ASSIGNED' },
  ])
  expect(seen.serverAssigned).toHaveLength(1)
})

test('a running match keeps its teams after a takeover, and its server stops when the last player leaves', async () => {
  const { leader, run, service, matchId, join, state } = await takenOverAfter(6500, createWorld({ queues: [sides] }))
  await run(500)
  expect(leader.getTicket('ann')).toMatchObject({
    status: 'HOST_ASSIGNED',
    version: 3,
    assignment: { fqdn: 'r1.example.com' },
  })
  const backfill = leader.createBackfill({ matchId })
  expect(backfill.teams.toSorted((one, other) => one.name.localeCompare(other.name))).toMatchObject([
    { name: 'side-1', slots: 1 },
    { name: 'side-2', slots: 1 },
  ])
  expect(backfill.teams.flatMap(({ players }) => players).toSorted()).toEqual(['ann', 'ben'])
  leader.load([join('cas')])
  await run(250)
  expect(state('cas')).toMatchObject({ status: 'HOST_ASSIGNED', matchId })
  leader.playersLeft(matchId, ['ann', 'ben'])
  leader.playersLeft(matchId, ['cas'])
  await run(3000)
  expect(service.unstopped()).toEqual([])
  // The tickets of a match that is over are removed after `endedTicketTtlMs`.
  await run(61_000)
  expect(leader.getTicket('ann')).toBeUndefined()
})

test('a player who left before a takeover is not in the match afterwards', async () => {
  const world = createWorld({ queues: [sides] })
  const first = await world.lead()
  first.leader.load([world.join('ann'), world.join('ben')])
  await first.run(6500)
  const { matchId = '' } = first.leader.getTicket('ann') ?? {}
  first.leader.playersLeft(matchId, ['ann'])
  first.leader.abandon()
  const { leader, run } = await world.lead()
  expect(leader.createBackfill({ matchId }).teams.flatMap(({ players }) => players)).toEqual(['ben'])
  leader.playersLeft(matchId, ['ben'])
  await run(3000)
  expect(world.service.unstopped()).toEqual([])
})

test('a player who must accept joining a running match must still accept after a takeover', async () => {
  const world = createWorld({ queues: [{ ...sides, acceptance: { withinMs: 20_000 } }] })
  const first = await world.lead()
  first.leader.load([world.join('ann'), world.join('ben')])
  await first.run(250)
  first.leader.acceptMatch('ann')
  first.leader.acceptMatch('ben')
  await first.run(6500)
  const { matchId = '' } = first.leader.getTicket('ann') ?? {}
  first.leader.createBackfill({ matchId })
  first.leader.load([world.join('cas'), world.join('dee')])
  await first.run(250)
  first.leader.abandon()
  const { leader, run, state } = { ...(await world.lead()), ...world }
  expect(state('cas')).toMatchObject({ status: 'MATCH_FOUND', matchId })
  leader.acceptMatch('cas')
  expect(state('cas')).toMatchObject({ status: 'HOST_ASSIGNED', matchId })
  await run(21_000)
  expect(state('dee')).toMatchObject({ status: 'CANCELLED', cancelReason: 'not-accepted' })
})

test('a match is abandoned after a takeover if its queue is gone or has other teams', async () => {
  for (const queues of [[{ ...duel, name: 'other' }], [{ ...sides, name: 'duel' }]]) {
    const world = createWorld()
    const first = await world.lead()
    first.leader.load([world.join('ann'), world.join('ben')])
    await first.run(1500)
    first.leader.abandon()
    const { run } = await world.lead({ queues })
    expect(world.state('ann')?.status).toBe(queues[0]?.name === 'other' ? 'CANCELLED' : 'SEARCHING')
    await run(2000)
    expect(world.service.calls.stop).toMatchObject([{ request_id: 'r1' }])
  }
})

test('players of a running match learn of its end after a takeover without its queue or teams', async () => {
  for (const queues of [[{ ...duel, name: 'other' }], [{ ...sides, name: 'duel' }]]) {
    const world = createWorld()
    const first = await world.lead()
    first.leader.load([world.join('ann'), world.join('ben')])
    await first.run(6500)
    first.leader.abandon()
    const { leader, run } = await world.lead({ queues })
    const { matchId = '', ...ann } = leader.getTicket('ann') ?? {}
    expect(ann).toMatchObject({ status: 'HOST_ASSIGNED', assignment: { fqdn: 'r1.example.com' } })
    leader.playersLeft(matchId, ['ben'])
    await run(1000)
    expect(world.service.unstopped()).toHaveLength(1)
    void leader.stopMatch(matchId)
    await run(3000)
    expect(world.service.unstopped()).toEqual([])
    expect(world.state('ann')).toMatchObject({ ended: { reason: 'match-over' } })
    await run(61_000)
    expect(leader.getTicket('ann')).toBeUndefined()
  }
})

test('after a takeover without their queue, players of a recorded server are sent to it', async () => {
  for (const queues of [[{ ...duel, name: 'other' }], [{ ...sides, name: 'duel' }]]) {
    const world = createWorld()
    const first = await world.lead({ ledger: world.hearsOnlyMatches })
    first.leader.load([world.join('ann'), world.join('ben')])
    await first.run(6500)
    first.leader.abandon()
    expect(world.state('ann')?.status).toBe('MATCH_FOUND')
    const { leader, run } = await world.lead({ queues })
    const { matchId = '', ...ann } = leader.getTicket('ann') ?? {}
    expect(ann).toMatchObject({ status: 'HOST_ASSIGNED', assignment: { fqdn: 'r1.example.com' } })
    expect(world.state('ben')).toMatchObject({ status: 'HOST_ASSIGNED', matchId })
    void leader.stopMatch(matchId)
    await run(3000)
    expect(world.service.unstopped()).toEqual([])
    expect(world.state('ann')).toMatchObject({ ended: { reason: 'match-over' } })
  }
})

test('an open backfill continues unchanged after a takeover, with the players who joined and left', async () => {
  const world = createWorld({ queues: [sides] })
  const first = await world.lead()
  first.leader.load([world.join('ann'), world.join('ben')])
  await first.run(6500)
  const { matchId = '', team = '' } = first.leader.getTicket('ann') ?? {}
  const teams = [
    { name: team, slots: 1 },
    { name: team === 'side-1' ? 'side-2' : 'side-1', slots: 1, players: [{ id: 'bot', attributes: { skill: 1 } }] },
  ]
  const { id } = first.leader.createBackfill({ matchId, teams, priority: 3 })
  first.leader.load([world.join('cas')])
  await first.run(250)
  const before = first.leader.getBackfill(id)
  expect(before).toMatchObject({ version: 2, tickets: ['cas'], status: 'OPEN' })
  expect(JSON.stringify([...world.backfills])).not.toContain('198.51.100')
  first.leader.abandon()

  const { leader, run } = await world.lead()
  expect(leader.getBackfill(id)).toEqual(before)
  leader.load([world.join('dee')])
  await run(250)
  expect(leader.getTicket('dee')).toMatchObject({ status: 'HOST_ASSIGNED', matchId })
  expect(leader.getBackfill(id)).toMatchObject({ status: 'FILLED', version: 3, tickets: ['cas', 'dee'] })
  // The next leader returns the same backfill if the game server repeats the create.
  const filled = leader.getBackfill(id)
  leader.abandon()
  const last = await world.lead()
  expect(last.leader.createBackfill({ id, matchId, teams })).toEqual(filled)
  await last.run(60_000)
  expect(world.backfills.size).toBe(0)
})

test('a backfill is cancelled after a takeover if its match is over or its queue cannot serve it', async () => {
  const world = createWorld({ queues: [sides] })
  const first = await world.lead()
  first.leader.load([world.join('ann'), world.join('ben')])
  await first.run(6500)
  const { matchId = '' } = first.leader.getTicket('ann') ?? {}
  const { id } = first.leader.createBackfill({ matchId })
  first.leader.abandon()
  world.backfillChanged('stray', (world.backfills.get(id) ?? '').replace(matchId, 'unknown'))
  const { leader } = await world.lead({
    queues: [{ ...sides, rules: [{ kind: 'difference', attribute: 'skill', max: 1, missing: 'refuse' }] }],
  })
  expect(leader.getBackfill(id)?.status).toBe('CANCELLED')
  expect(leader.getBackfill('stray')).toBeUndefined()
  expect([...world.backfills]).toEqual([])
})

test('a backfill opened for a leaver while the server starts stays open after a takeover', async () => {
  const world = createWorld({ queues: [{ ...duel, matchSize: 3, replaceLeavers: true }] })
  const first = await world.lead()
  first.leader.load(['ann', 'ben', 'cas'].map((id) => world.join(id)))
  await first.run(1500)
  first.leader.cancelTicket('ann')
  first.leader.abandon()
  expect(world.backfills.size).toBe(1)
  const { leader, run, state } = { ...(await world.lead()), ...world }
  leader.load([world.join('dee')])
  await run(7000)
  expect(world.service.calls.create).toHaveLength(1)
  expect(['ben', 'cas', 'dee'].map((id) => state(id)?.status)).toEqual([
    'HOST_ASSIGNED',
    'HOST_ASSIGNED',
    'HOST_ASSIGNED',
  ])
})
