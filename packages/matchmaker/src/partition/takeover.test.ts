import { NoCapacity } from '@muster/core'
import { expect, test } from 'vitest'
import type { HostingEntry, ServerLog } from '@muster/hosting/internal'
import { createWorld, deploy, duel, takenOverAfter } from './leader.fixture.js'

const tagsOf = ({ service }: Pick<ReturnType<typeof createWorld>, 'service'>) =>
  service.calls.create.map(({ tags }) => tags?.[1])

test('after a takeover the match waits for its starting server, and the players are sent there', async () => {
  const { leader, run, service, changes, served, matchId, seen, state, serverLog } = await takenOverAfter(1500)
  expect(leader.inspect().matches).toMatchObject([{ matchId, phase: 'starting', requestId: 'r1' }])
  await run(6000)
  expect(service.calls.create).toHaveLength(1)
  expect(service.calls.stop).toEqual([])
  expect(changes.map(({ id, version, status }) => [id, version, status])).toEqual([
    ['ann', 3, 'HOST_ASSIGNED'],
    ['ben', 3, 'HOST_ASSIGNED'],
  ])
  expect(state('ann')).toMatchObject({ matchId, queue: 'duel', team: 'team', assignment: { fqdn: 'r1.example.com' } })
  expect(seen.serverAssigned).toMatchObject([{ matchId, requestId: 'r1' }])
  // The first leader has already counted the server against the players' limits, so this one does not.
  expect(served).toEqual([])
  expect(await serverLog.open()).toMatchObject({
    servers: [{ serverId: matchId, bornFor: matchId, isUp: true }],
    matches: [{ matchId, playerIds: ['ann', 'ben'] }],
  })
})

test('after a takeover an unsent create is sent once', async () => {
  const world = createWorld()
  const hangs: ServerLog = {
    ...world.serverLog,
    append: (entries) =>
      entries.some(({ kind }) => kind === 'sent') ? new Promise(() => {}) : world.serverLog.append(entries),
  }
  const { run, service, state, served, matchId } = await takenOverAfter(500, world, { serverLog: hangs })
  await run(7000)
  expect(tagsOf({ service })).toEqual([`match-${matchId}`])
  expect([state('ann'), state('ben')]).toMatchObject([{ status: 'HOST_ASSIGNED', matchId }, { matchId }])
  expect(served.toSorted()).toEqual(['ann', 'ben'])
})

test('after a takeover a create without an answer is found by its tag, and its server is used', async () => {
  const { run, service, state, served, matchId } = await takenOverAfter(
    1500,
    createWorld({ service: { latencyMs: () => 1000 } }),
  )
  await run(15_000)
  expect(service.records).toHaveLength(1)
  expect([state('ann'), state('ben')]).toMatchObject([{ status: 'HOST_ASSIGNED', matchId }, { matchId }])
  expect(served.toSorted()).toEqual(['ann', 'ben'])
  expect(service.calls.stop).toEqual([])
})

test('after a takeover, a match whose create was never carried out is dissolved, and its players search', async () => {
  const { run, service, state, matchId } = await takenOverAfter(
    500,
    createWorld({ service: { latencyMs: () => 1000 } }),
  )
  await run(30_000)
  // The first call was aborted in flight.
  expect(tagsOf({ service })).toHaveLength(2)
  expect(service.records).toHaveLength(1)
  expect(state('ann')).toMatchObject({ status: 'HOST_ASSIGNED', attempts: 0 })
  expect(state('ann')?.matchId).not.toBe(matchId)
})

test('after a takeover the placement of a match continues with the attempt after those already made', async () => {
  const queue = { ...duel, deploy: { ...deploy, requireCachedLocations: true } }
  const fault = (method: string, nth: number) =>
    method === 'create' && nth === 1 ? { error: new NoCapacity('full', { requestId: 'r1' }), effect: true } : undefined
  const world = createWorld({ queues: [queue], service: { fault, fate: () => ({ readyMs: 100 }) } })
  const { run, service, state, matchId } = await takenOverAfter(250, world)
  await run(8000)
  expect(service.calls.create.map(({ require_cached_locations }) => require_cached_locations)).toEqual([
    true,
    undefined,
  ])
  expect(tagsOf({ service })).toEqual([`match-${matchId}`, `match-${matchId}-2`])
  expect(state('ben')).toMatchObject({ status: 'HOST_ASSIGNED', matchId })
  expect(service.unstopped()).toEqual(['r2'])
})

test('after a takeover a READY server may still register with its secret, and gets its players', async () => {
  const probe = { kind: 'registration' } as const
  const { leader, run, service, state, matchId } = await takenOverAfter(
    7000,
    createWorld({ queues: [{ ...duel, deploy: { ...deploy, probe } }] }),
  )
  await run(1000)
  const secret =
    service.calls.create[0]?.environment_variables?.find(({ key }) => key === 'MM_REGISTRATION_SECRET')?.value ?? ''
  expect(secret).not.toBe('')
  expect(leader.isServerSecret(secret)).toBe(true)
  expect(leader.isServerSecret(`${secret}x`)).toBe(false)
  expect(leader.serverReady(matchId, 'wrong')).toBe(false)
  expect(leader.serverReady(matchId, secret)).toBe(true)
  await run(1000)
  expect(state('ann')).toMatchObject({ status: 'HOST_ASSIGNED', matchId })
})

test('if a ticket is cancelled during a takeover, its server is stopped and the other tickets search', async () => {
  const world = createWorld()
  const first = await world.lead()
  first.leader.load([world.join('ann'), world.join('ben')])
  await first.run(1500)
  first.leader.abandon()
  const ann = world.stored.get('ann')
  if (ann?.state !== undefined) world.stored.set('ann', { ...ann, state: { ...ann.state, status: 'CANCELLED' } })
  const { run, seen, changes } = await world.lead()
  expect(changes).toMatchObject([{ id: 'ben', version: 3, status: 'SEARCHING', waitingFor: 'players', attempts: 0 }])
  expect(seen.ticketRequeued).toMatchObject([{ reason: 'dissolved' }])
  await run(8000)
  expect(world.service.unstopped()).toEqual([])
  expect(seen.deploymentStopped).toMatchObject([{ reason: 'restarted' }])
})

test('with a store that cannot resume matches, a takeover stops the server and its players search again', async () => {
  const world = createWorld()
  const plain = { ...world.serverLog, resumes: false }
  const first = await world.lead({ serverLog: plain })
  first.leader.load([world.join('ann'), world.join('ben')])
  await first.run(1500)
  first.leader.abandon()
  const { run, state } = { ...(await world.lead({ serverLog: plain })), ...world }
  await run(8000)
  expect(world.service.unstopped()).toEqual(['r2'])
  expect(state('ann')).toMatchObject({ status: 'HOST_ASSIGNED', attempts: 0 })
  expect(JSON.stringify(world.entries)).not.toContain('resumption')
})

test('a server that was being stopped is not used after a takeover', async () => {
  const world = createWorld()
  // The store did not learn that the tickets had returned to the queue.
  const first = await world.lead({ ledger: world.hearsOnlyMatches })
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

test('players whose match awaited acceptance search again after a takeover', async () => {
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

test('a takeover by a hot standby has the same results as a takeover by a process that loads everything', async () => {
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

test('the server log entries `match`, `server` and `sent` contain all data to resume a match', async () => {
  const { entries } = await takenOverAfter(500)
  const kinds = (kind: HostingEntry['kind']) => entries.filter((entry) => entry.kind === kind)
  expect(kinds('match')).toMatchObject([{ resumption: { expansionMs: 0 } }])
  expect(kinds('server')).toMatchObject([{ resumption: { tries: [{ cachedOnly: false }] } }])
  expect(kinds('sent')).toMatchObject([{ resumption: { tries: [{ cachedOnly: false }] } }])
})
