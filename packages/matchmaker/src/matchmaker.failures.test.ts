import {
  AlreadyTerminated,
  ConnectionLost,
  InvalidInput,
  NoCapacity,
  NotFound,
  ServerError,
  Unauthorized,
} from '@muster/core'
import { describe, expect, test } from 'vitest'
import { deploy, duel, setUp } from './matchmaker.fixture.js'
import { lost } from '@muster/hosting/service-fixture'

/** Returns the list requests that look for the deployment of one match. Other list requests read all deployments. */
const searches = ({ calls }: ReturnType<typeof setUp>['service']) =>
  calls.list.filter(({ query }) => JSON.stringify(query).includes('match-'))

describe('failures of the deployment service', () => {
  const failOnce = (error: Error, effect = false) => ({
    fault: (method: string, nth: number) => (method === 'create' && nth === 1 ? { error, effect } : undefined),
  })

  test('a create whose answer was lost is found by its tag and not repeated', async () => {
    const { matchmaker, service, join, run } = setUp({ service: { ...failOnce(lost, true), listLagMs: 1500 } })
    join('ann', 'ben')
    await run(8000)
    expect(matchmaker.getTicket('ann-ben')).toMatchObject({
      status: 'HOST_ASSIGNED',
      attempts: 0,
      assignment: { fqdn: 'r1.example.com' },
    })
    expect(service.calls.create).toHaveLength(1)
  })

  test('a lost create is searched for by its tag before its tickets search again', async () => {
    const { matchmaker, service, seen, join, run } = setUp({ service: failOnce(lost) })
    join('ann', 'ben')
    await run(4000)
    expect(service.calls.create).toHaveLength(1)
    expect(service.calls.list.length).toBeGreaterThanOrEqual(4)
    await run(8000)
    expect(seen.ticketRequeued).toMatchObject([{ reason: 'lost' }])
    expect(matchmaker.getTicket('ann-ben')).toMatchObject({ status: 'HOST_ASSIGNED', attempts: 0 })
    expect(service.calls.create).toHaveLength(2)
  })

  test('a deployment that was created without capacity is stopped, and the tickets search again', async () => {
    const noCapacity = new NoCapacity('no capacity', { requestId: 'r1' })
    const { matchmaker, service, seen, join, run } = setUp({ service: failOnce(noCapacity, true) })
    const { createdAt } = join('ann', 'ben')
    await run(500)
    expect(seen.ticketRequeued).toMatchObject([{ reason: 'no-capacity' }])
    expect(matchmaker.getTicket('ann-ben')).toMatchObject({
      status: 'SEARCHING',
      waitingFor: 'retry',
      attempts: 1,
      createdAt,
    })
    await run(10_000)
    expect(matchmaker.getTicket('ann-ben')?.assignment?.fqdn).toBe('r2.example.com')
    expect(service.unstopped()).toEqual(['r2'])
  })

  test.each([
    ['NoCapacity without a deployment id', new NoCapacity('no capacity')],
    ['an unclassified error', new Error('?')],
  ])('a deployment is searched for by its tag after its create failed with %s', async (_, error) => {
    const { service, join, run } = setUp({ service: failOnce(error, true) })
    join('ann', 'ben')
    await run(20_000)
    expect(service.unstopped()).toHaveLength(1)
  })

  test.each([
    ['ends in error', { errorMs: 2000 }, 'failed'],
    ['ends before it is ready', { endMs: 2000 }, 'failed'],
    ['is never ready', {}, 'too-slow'],
  ] as const)('a deployment that %s is stopped, and the tickets search again', async (_, fate, reason) => {
    const { matchmaker, service, seen, join, run } = setUp({
      queues: [{ ...duel, deploy: { ...deploy, readyTimeoutMs: 10_000 } }],
      service: { fate: (nth) => (nth === 1 ? fate : { readyMs: 1000 }) },
    })
    join('ann', 'ben')
    await run(30_000)
    expect(seen.ticketRequeued).toMatchObject([{ reason, ticket: { attempts: 1 } }])
    expect(seen.deploymentStopped).toMatchObject([{ requestId: 'r1', reason }])
    expect(matchmaker.getTicket('ann-ben')?.assignment?.fqdn).toBe('r2.example.com')
    expect(service.calls.stop).toContainEqual({ request_id: 'r1' })
  })

  test('tickets are cancelled after maxAttempts failed deployments', async () => {
    const { matchmaker, service, seen, join, run } = setUp({ service: { fate: () => ({ errorMs: 500 }) } })
    join('ann', 'ben')
    await run(60_000)
    expect(matchmaker.getTicket('ann-ben')).toMatchObject({
      status: 'CANCELLED',
      cancelReason: 'attempts',
      attempts: 3,
    })
    expect(seen.cancelled).toMatchObject([{ reason: 'attempts' }])
    expect(service.calls.create).toHaveLength(3)
    expect(service.unstopped()).toEqual([])
  })

  test('a create that is refused as invalid counts as an attempt and is not searched for', async () => {
    const { matchmaker, service, join, run } = setUp({
      service: {
        fault: (method) => (method === 'create' ? { error: new InvalidInput('no such version') } : undefined),
      },
    })
    join('ann', 'ben')
    await run(30_000)
    expect(matchmaker.getTicket('ann-ben')?.cancelReason).toBe('attempts')
    expect(service.calls.create).toHaveLength(3)
    expect(searches(service)).toHaveLength(0)
  })

  test.each([
    ['refuses the token', new Unauthorized('no')],
    ['cannot be reached', new ConnectionLost('no route', { sent: false })],
  ])(
    'while the service %s, one create is sent every few seconds, and failures do not count as attempts',
    async (_, error) => {
      let down = true
      const { matchmaker, service, join, run } = setUp({
        service: { fault: (method) => (down && method === 'create' ? { error } : undefined) },
      })
      join('ann', 'ben')
      await run(120_000)
      expect(matchmaker.getTicket('ann-ben')).toMatchObject({ status: 'SEARCHING', attempts: 0 })
      expect(service.calls.create.length).toBeLessThan(60)
      expect(searches(service)).toHaveLength(0)
      down = false
      // The next probe is sent within three seconds, and its server is READY five seconds later.
      await run(8500)
      expect(matchmaker.getTicket('ann-ben')?.status).toBe('HOST_ASSIGNED')
      expect(matchmaker.inspect().pausedUntil).toBeUndefined()
    },
  )

  test('a stop is repeated until the service confirms it, by success or by 410', async () => {
    const answers = [lost, new ServerError('down'), new Unauthorized('no'), new AlreadyTerminated('gone')]
    const { matchmaker, service, join, run } = setUp({
      service: { fault: (method, nth) => (method === 'stop' && nth <= 4 ? { error: answers[nth - 1] } : undefined) },
    })
    join('ann', 'ben')
    await run(6000)
    const stopped = matchmaker.stopMatch(matchmaker.getTicket('ann-ben')?.matchId ?? '')
    await run(1000)
    expect(matchmaker.inspect()).toMatchObject({ stopsPending: 1, matches: [{ phase: 'stopping' }] })
    await run(10_000)
    await stopped
    expect(service.calls.stop).toHaveLength(4)
    expect(matchmaker.inspect()).toMatchObject({ stopsPending: 0, matches: [] })
  })

  test('a stop that is answered 404 counts as done unless the deployment is new', async () => {
    const { service, matchmaker, join, run } = setUp({
      service: { fault: (method, nth) => (method === 'stop' && nth <= 2 ? { error: new NotFound('?') } : undefined) },
    })
    join('ann', 'ben')
    await run(500)
    matchmaker.cancelTicket('ann-ben')
    await run(5000)
    expect(service.calls.stop.length).toBeGreaterThan(2)
    expect(service.unstopped()).toEqual([])
  })
})

describe('the limit on servers', () => {
  test.each([
    ['all servers', { maxServers: 1 }],
    ['starting servers', { maxStarting: 1 }],
  ])(
    'with room for one more of %s, the oldest ticket gets a server, and other tickets are waitingFor `servers`',
    async (_, bound) => {
      const { matchmaker, service, join, run, status } = setUp(bound)
      join('ann', 'ben')
      await run(250)
      join('cas', 'dee')
      await run(1000)
      expect([status('ann-ben'), status('cas-dee')]).toEqual(['MATCH_FOUND', 'SEARCHING'])
      expect(matchmaker.getTicket('cas-dee')?.waitingFor).toBe('servers')
      expect(service.calls.create).toHaveLength(1)
      await run(6000)
      expect(status('ann-ben')).toBe('HOST_ASSIGNED')
      if ('maxServers' in bound) {
        expect(status('cas-dee')).toBe('SEARCHING')
        await matchmaker.stopMatch(matchmaker.getTicket('ann-ben')?.matchId ?? '')
        await run(250)
      }
      expect(status('cas-dee')).toBe('MATCH_FOUND')
    },
  )
})
