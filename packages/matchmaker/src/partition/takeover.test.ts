import { NoCapacity } from '@muster/core'
import { expect, test } from 'vitest'
import type { Journal, JournalEntry } from '../servers/journal/journal.js'
import { createWorld, deploy, duel } from './leader.fixture.js'

type World = ReturnType<typeof createWorld>

/** The first leader finds a match of two players, goes on for so long, and is gone; another takes over. */
async function takenOverAfter(ms: number, world = createWorld(), options: Parameters<World['process']>[0] = {}) {
  const first = await world.lead(options)
  first.leader.load([world.join('ann'), world.join('ben')])
  await first.run(ms)
  const { matchId = '' } = first.leader.getTicket('ann') ?? {}
  first.leader.abandon()
  const next = await world.lead()
  return { ...world, ...next, first, matchId }
}

const tagsOf = ({ service }: Pick<World, 'service'>) => service.calls.create.map(({ tags }) => tags?.[1])

test('a server that starts is waited for, and the players are sent there', async () => {
  const { leader, run, service, changes, served, matchId, seen, state, journal } = await takenOverAfter(1500)
  expect(leader.inspect().matches).toMatchObject([{ matchId, phase: 'starting', requestId: 'r1' }])
  await run(6000)
  expect(service.calls.create).toHaveLength(1)
  expect(service.calls.stop).toEqual([])
  expect(changes.map(({ id, version, status }) => [id, version, status])).toEqual([
    ['ann', 3, 'HOST_ASSIGNED'],
    ['ben', 3, 'HOST_ASSIGNED'],
  ])
  expect(state('ann')).toMatchObject({ matchId, queue: 'duel', team: 'team', assignment: { fqdn: 'r1.example.com' } })
  expect(seen.assigned).toMatchObject([{ matchId, requestId: 'r1' }])
  // The first leader counted the server against the players' limits.
  expect(served).toEqual([])
  expect(await journal.open()).toMatchObject([{ matchId, assigned: true, playerIds: ['ann', 'ben'] }])
})

test('a create that was not sent is sent, once', async () => {
  const world = createWorld()
  const hangs: Journal = {
    ...world.journal,
    append: (entry) => (entry.kind === 'sent' ? new Promise(() => {}) : world.journal.append(entry)),
  }
  const { run, service, state, served, matchId } = await takenOverAfter(500, world, { journal: hangs })
  await run(7000)
  expect(tagsOf({ service })).toEqual([`match-${matchId}`])
  expect([state('ann'), state('ben')]).toMatchObject([{ status: 'HOST_ASSIGNED', matchId }, { matchId }])
  expect(served.toSorted()).toEqual(['ann', 'ben'])
})

test('a create whose answer was not heard is looked for by its tag, and its server used', async () => {
  const { run, service, state, served, matchId } = await takenOverAfter(1500, createWorld({ service: { latencyMs: () => 1000 } }))
  await run(15_000)
  expect(service.records).toHaveLength(1)
  expect([state('ann'), state('ben')]).toMatchObject([{ status: 'HOST_ASSIGNED', matchId }, { matchId }])
  expect(served.toSorted()).toEqual(['ann', 'ben'])
  expect(service.calls.stop).toEqual([])
})

test('if there is none, its players search again, and nothing is created for that match again', async () => {
  const { run, service, state, matchId } = await takenOverAfter(500, createWorld({ service: { latencyMs: () => 1000 } }))
  await run(30_000)
  // The first call was aborted under way.
  expect(tagsOf({ service })).toHaveLength(2)
  expect(service.records).toHaveLength(1)
  expect(state('ann')).toMatchObject({ status: 'HOST_ASSIGNED', attempts: 0 })
  expect(state('ann')?.matchId).not.toBe(matchId)
})

test('a further attempt goes on with what was tried', async () => {
  const queue = { ...duel, deploy: { ...deploy, requireCachedLocations: true } }
  const fault = (method: string, nth: number) =>
    method === 'create' && nth === 1 ? { error: new NoCapacity('full', { requestId: 'r1' }), effect: true } : undefined
  const world = createWorld({ queues: [queue], service: { fault, fate: () => ({ readyMs: 100 }) } })
  const { run, service, state, matchId } = await takenOverAfter(250, world)
  await run(8000)
  expect(service.calls.create.map(({ require_cached_locations }) => require_cached_locations)).toEqual([true, undefined])
  expect(tagsOf({ service })).toEqual([`match-${matchId}`, `match-${matchId}-2`])
  expect(state('ben')).toMatchObject({ status: 'HOST_ASSIGNED', matchId })
  expect(service.unstopped()).toEqual(['r2'])
})

test('a READY server that does not listen yet is waited for again, and the secret it was given holds', async () => {
  const probe = { kind: 'registration' } as const
  const { leader, run, service, state, matchId } = await takenOverAfter(
    7000,
    createWorld({ queues: [{ ...duel, deploy: { ...deploy, probe } }] }),
  )
  await run(1000)
  const secret = service.calls.create[0]?.environment_variables?.find(({ key }) => key === 'MM_REGISTRATION_SECRET')?.value ?? ''
  expect(secret).not.toBe('')
  expect(leader.isServerSecret(secret)).toBe(true)
  expect(leader.isServerSecret(`${secret}x`)).toBe(false)
  expect(leader.serverReady(matchId, 'wrong')).toBe(false)
  expect(leader.serverReady(matchId, secret)).toBe(true)
  await run(1000)
  expect(state('ann')).toMatchObject({ status: 'HOST_ASSIGNED', matchId })
})

test('players whose server was written down, but who were not told of it, are told', async () => {
  const world = createWorld()
  const first = await world.lead({ ledger: { changed: (ticket) => ticket.status === 'MATCH_FOUND' && world.write(ticket), served: () => {}, backfillChanged: () => {} } })
  first.leader.load([world.join('ann'), world.join('ben')])
  await first.run(6500)
  first.leader.abandon()
  expect(world.state('ann')?.status).toBe('MATCH_FOUND')
  const { changes, seen } = await world.lead()
  expect(changes).toMatchObject([
    { id: 'ann', status: 'HOST_ASSIGNED', assignment: { fqdn: 'r1.example.com' } },
    { id: 'ben', status: 'HOST_ASSIGNED' },
  ])
  expect(seen.assigned).toHaveLength(1)
})

const sides = { ...duel, matchSize: undefined, teams: [{ name: 'side', count: 2, size: { min: 1, max: 2 } }], fillForMs: 0 }

test('a match that runs goes on with its teams: who leaves is replaced, and the last takes the server along', async () => {
  const { leader, run, service, matchId, join, state } = await takenOverAfter(6500, createWorld({ queues: [sides] }))
  await run(500)
  expect(leader.getTicket('ann')).toMatchObject({ status: 'HOST_ASSIGNED', version: 3, assignment: { fqdn: 'r1.example.com' } })
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
  // The tickets of a match that is over are forgotten after a while.
  await run(61_000)
  expect(leader.getTicket('ann')).toBeUndefined()
})

test('who had left it before is not in it any more', async () => {
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

test('a ticket that was cancelled meanwhile ends the match: its server is stopped, and the others search again', async () => {
  const world = createWorld()
  const first = await world.lead()
  first.leader.load([world.join('ann'), world.join('ben')])
  await first.run(1500)
  first.leader.abandon()
  const ann = world.stored.get('ann')
  if (ann?.state !== undefined) world.stored.set('ann', { ...ann, state: { ...ann.state, status: 'CANCELLED' } })
  const { run, seen, changes } = await world.lead()
  expect(changes).toMatchObject([{ id: 'ben', version: 3, status: 'SEARCHING', waitingFor: 'players', attempts: 0 }])
  expect(seen.returned).toMatchObject([{ reason: 'dissolved' }])
  await run(8000)
  expect(world.service.unstopped()).toEqual([])
  expect(seen.deploymentStopped).toMatchObject([{ reason: 'restarted' }])
})

test('a journal that does not resume stops the server, and its players search again', async () => {
  const world = createWorld()
  const plain = { ...world.journal, resumes: false }
  const first = await world.lead({ journal: plain })
  first.leader.load([world.join('ann'), world.join('ben')])
  await first.run(1500)
  first.leader.abandon()
  const { run, state } = { ...(await world.lead({ journal: plain })), ...world }
  await run(8000)
  expect(world.service.unstopped()).toEqual(['r2'])
  expect(state('ann')).toMatchObject({ status: 'HOST_ASSIGNED', attempts: 0 })
  expect(JSON.stringify(world.entries)).not.toContain('resumption')
})

test('a server that was being stopped is not gone on with', async () => {
  const world = createWorld()
  // The store heard nothing of the tickets' return.
  const first = await world.lead({
    ledger: { changed: (ticket) => ticket.status === 'MATCH_FOUND' && world.write(ticket), served: () => {}, backfillChanged: () => {} },
  })
  first.leader.load([world.join('ann'), world.join('ben')])
  await first.run(1500)
  void first.leader.stopMatch(first.leader.getTicket('ann')?.matchId ?? '').catch(() => {})
  first.leader.abandon()
  expect(world.state('ann')?.status).toBe('MATCH_FOUND')
  const { run, state } = { ...(await world.lead()), ...world }
  expect(state('ann')?.status).toBe('SEARCHING')
  await run(8000)
  expect(world.service.unstopped()).toEqual(['r2'])
})

test('players who were being asked search again', async () => {
  const world = createWorld({ queues: [{ ...duel, acceptance: { withinMs: 10_000 } }] })
  const { leader, changes, run, state } = await (async () => {
    const first = await world.lead()
    first.leader.load([world.join('ann'), world.join('ben')])
    await first.run(250)
    first.leader.acceptMatch('ann')
    first.leader.abandon()
    return { ...(await world.lead()), ...world }
  })()
  expect(changes).toMatchObject([
    { id: 'ann', version: 4, status: 'SEARCHING', acceptance: undefined },
    { id: 'ben', version: 3, status: 'SEARCHING' },
  ])
  await run(250)
  leader.acceptMatch('ann')
  leader.acceptMatch('ben')
  await run(7000)
  expect(state('ann')?.status).toBe('HOST_ASSIGNED')
})

test('one who is asked to join a match that runs is still asked', async () => {
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

test('a match whose queue is gone, or has other teams, is given up', async () => {
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

test('a takeover by a standby that followed all the while is the same', async () => {
  const world = createWorld()
  const first = await world.lead()
  const standby = world.process()
  const follow = () => standby.leader.load([...world.stored.values()])
  for (const id of ['ann', 'ben']) first.leader.load([world.join(id)])
  follow()
  for (let passed = 0; passed < 1500; passed += 250) {
    await first.run(250)
    follow()
  }
  first.leader.abandon()
  await standby.leader.lead()
  await standby.run(6000)
  expect(world.service.calls.create).toHaveLength(1)
  expect(standby.changes.map(({ id, version }) => `${id} ${version}`)).toEqual(['ann 3', 'ben 3'])
})

test('entries of journals that resume carry what is needed, and others nothing of it', async () => {
  const { entries } = await takenOverAfter(500)
  const kinds = (kind: JournalEntry['kind']) => entries.filter((entry) => entry.kind === kind)
  expect(kinds('intent')).toMatchObject([{ resumption: { expansionMs: 0, secret: undefined } }])
  expect(kinds('sent')).toMatchObject([{ resumption: { secret: expect.any(String) as string, tries: [{ cachedOnly: false }] } }])
})

test('an open backfill goes on as it was, with who came and who left', async () => {
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
  expect(world.backfills.size).toBe(0)
})

test('a backfill whose match is over, or whose queue cannot serve it, is not open any more', async () => {
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

test('one that was opened for a leaver while the server starts is still open', async () => {
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
  expect(['ben', 'cas', 'dee'].map((id) => state(id)?.status)).toEqual(['HOST_ASSIGNED', 'HOST_ASSIGNED', 'HOST_ASSIGNED'])
})
