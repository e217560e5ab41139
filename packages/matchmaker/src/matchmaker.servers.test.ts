import { describe, expect, test } from 'vitest'
import { deploy, duel, setUp } from './matchmaker.fixture.js'
import { createMemoryServerLog, type ServerLog } from '@muster/hosting/internal'

describe('the cleanup of orphaned deployments', () => {
  test('only a deployment with our tag and without a match is stopped after the grace period', async () => {
    const { service, seen, run } = setUp({ orphanGraceMs: 60_000 })
    await service.add(['mm-muster', 'match-ofanearlierprocess'])
    await service.add(['mm-other', 'match-x'])
    await run(59_000)
    expect(service.unstopped()).toEqual(['r1', 'r2'])
    await run(35_000)
    expect(seen.orphanStopped).toEqual([{ requestId: 'r1' }])
    expect(service.unstopped()).toEqual(['r2'])
  })

  test('the cleanup of orphaned deployments is disabled by an infinite grace period', async () => {
    const { service, run } = setUp({ orphanGraceMs: Infinity })
    await service.add(['mm-muster'])
    await run(600_000)
    expect(service.unstopped()).toEqual(['r1'])
  })

  test('the cleanup of orphaned deployments stops nothing before the store was read', async () => {
    let readable = false
    const memory = createMemoryServerLog()
    const serverLog: ServerLog = {
      ...memory,
      open: () => (readable ? memory.open() : Promise.reject(new Error('no disk'))),
    }
    const { clock, service, seen, run } = setUp({ serverLog, orphanGraceMs: 1000 })
    const of = { queue: 'duel', at: clock.now(), serverId: 'm' }
    await memory.append([
      { ...of, kind: 'match', matchId: 'm', ticketIds: [], playerIds: [] },
      { ...of, kind: 'server', tag: 'match-m', bornFor: 'm' },
    ])
    await service.add(['mm-muster', 'match-m'])
    await memory.append([{ kind: 'created', serverId: 'm', requestId: 'r1' }])
    await memory.append([
      { kind: 'up', serverId: 'm' },
      { kind: 'playing', matchId: 'm', at: clock.now() },
    ])
    await run(40_000)
    readable = true
    await run(40_000)
    expect(seen.orphanStopped).toBeUndefined()
    expect(service.unstopped()).toEqual(['r1'])
  })

  test('a deployment that appears after its match was abandoned is stopped immediately', async () => {
    const { service, seen, join, run, matchmaker } = setUp({
      listLagMs: 1000,
      service: { fault: (method, nth) => (method === 'create' && nth === 1 ? {} : undefined) },
    })
    join('ann', 'ben')
    await run(12_000)
    // The list lags by more than `listLagMs`.
    await service.add(['mm-muster', `match-${seen.matchFound?.[0]?.matchId}`])
    await run(31_000)
    expect(seen.orphanStopped).toEqual([{ requestId: 'r2' }])
    expect(matchmaker.getTicket('ann-ben')?.assignment?.fqdn ?? 'r1.example.com').toBe('r1.example.com')
    expect(service.unstopped()).toEqual(['r1'])
  })
})

test('no server is created for a match whose environment is too large, and no attempt is counted', async () => {
  const hidden = Object.fromEntries(Array.from({ length: 70 }, (_, index) => [`V${index}`, 'x'.repeat(4000)]))
  const queues = [{ ...duel, deploy: { ...deploy, hiddenEnvironment: hidden } }]
  const { matchmaker, service, seen, join, run } = setUp({ queues })
  join('ann', 'ben')
  await run(3000)
  expect(service.calls.create).toHaveLength(0)
  expect(seen.problem?.[0]).toMatchObject({ during: 'create', error: { name: 'MatchTooLarge', field: 'environment' } })
  expect(matchmaker.getTicket('ann-ben')).toMatchObject({ status: 'SEARCHING', attempts: 0 })
})

test('matches beyond maxCreatesPerMinute wait for their servers', async () => {
  const { service, join, run } = setUp({ maxCreatesPerMinute: 2 })
  for (const name of ['a', 'b', 'c']) join(`${name}1`, `${name}2`)
  await run(59_000)
  expect(service.calls.create).toHaveLength(2)
  await run(2000)
  expect(service.calls.create).toHaveLength(3)
})

test('each match has its own webhook path, and a webhook call only triggers a read of the deployment', async () => {
  const { clock, matchmaker, service, join, run, status } = setUp({
    webhookUrl: 'https://game.example.com/hooks',
    service: { fate: () => ({ readyMs: 20 }) },
  })
  join('ann', 'ben')
  await matchmaker.tick()
  await clock.advance(30)
  const url = service.calls.create[0]?.webhook_on_ready?.url ?? ''
  expect(url).toMatch(/^https:\/\/game\.example\.com\/hooks\/[0-9a-v]{21}\.[\w-]{22}$/)
  expect(status('ann-ben')).toBe('MATCH_FOUND')
  const forged = JSON.stringify({ request_id: 'r1', current_status: 'Status.READY', fqdn: 'evil.example.com' })
  const { status: answered } = await matchmaker.webhook(new Request(url, { method: 'POST', body: forged }))
  expect(answered).toBe(204)
  await clock.advance(0)
  expect(matchmaker.getTicket('ann-ben')).toMatchObject({
    status: 'HOST_ASSIGNED',
    assignment: { fqdn: 'r1.example.com' },
  })
  await run(250)
  expect(service.calls.get).toHaveLength(1)
})

describe('a failing server of a match', () => {
  test('a server that fails before READY is reported with the reason before its tickets return', async () => {
    const { seen, names, join, run } = setUp({ service: { fate: () => ({ errorMs: 3000 }) } })
    join('ann', 'ben')
    await run(6000)
    expect(seen.deploymentFailed?.[0]).toEqual({
      matchId: seen.matchFound?.[0]?.matchId,
      queue: 'duel',
      requestId: 'r1',
      reason: 'failed',
      detail: 'exit code 1 at [address]',
    })
    expect(names.indexOf('deploymentFailed')).toBeLessThan(names.indexOf('ticketRequeued'))
  })

  test('a server that fails with players on it counts as crashed, unlike a server that ends by itself', async () => {
    const crashing = setUp({ service: { fate: () => ({ readyMs: 1000, errorMs: 9000 }) } })
    crashing.join('ann', 'ben')
    await crashing.run(60_000)
    expect(crashing.seen.deploymentFailed).toMatchObject([{ requestId: 'r1', reason: 'crashed' }])
    expect(crashing.seen.deploymentStopped).toMatchObject([{ requestId: 'r1', reason: 'crashed' }])

    const ending = setUp({ service: { fate: () => ({ readyMs: 1000, endMs: 9000 }) } })
    ending.join('ann', 'ben')
    await ending.run(60_000)
    expect(ending.seen.deploymentFailed).toBeUndefined()
    expect(ending.seen.deploymentStopped).toMatchObject([{ requestId: 'r1', reason: 'ended' }])
  })

  test('a server that is not READY in time or does not register in time is reported', async () => {
    const slow = setUp({
      queues: [{ ...duel, deploy: { ...deploy, readyTimeoutMs: 5000 } }],
      service: { fate: () => ({ readyMs: 60_000 }) },
    })
    slow.join('ann', 'ben')
    await slow.run(7000)
    expect(slow.seen.deploymentFailed).toMatchObject([{ requestId: 'r1', reason: 'too-slow', detail: undefined }])

    const probe = { kind: 'registration', withinMs: 2000 } as const
    const mute = setUp({ queues: [{ ...duel, deploy: { ...deploy, probe } }] })
    mute.join('ann', 'ben')
    await mute.run(9000)
    expect(mute.seen.deploymentFailed?.[0]).toMatchObject({ requestId: 'r1', reason: 'not-listening' })
  })
})
