import { ServerError } from '@muster/core'
import { NO_SERVER_LOG } from '@muster/hosting/internal'
import { describe, expect, test } from 'vitest'
import { MatchmakerClosed, AlreadyAssigned } from './errors.js'
import { duel, setUp } from './matchmaker.fixture.js'

describe('cancelling a ticket', () => {
  test('cancelTicket ends the search of a ticket, even if called twice', () => {
    const { matchmaker, seen, join } = setUp()
    join('ann')
    expect(matchmaker.cancelTicket('ann')).toMatchObject({ status: 'CANCELLED', cancelReason: 'cancelled' })
    expect(matchmaker.cancelTicket('ann').status).toBe('CANCELLED')
    expect(seen.cancelled).toHaveLength(1)
  })

  test.each([
    ['while the create is in flight', 0],
    ['while the server starts', 3000],
  ])('cancelTicket %s stops the server, and the other ticket keeps waiting', async (_, after) => {
    const { clock, matchmaker, service, seen, join, run } = setUp({ service: { latencyMs: () => 100 } })
    const { createdAt } = join('ann')
    join('ben')
    await matchmaker.tick()
    await clock.advance(after)
    matchmaker.cancelTicket('ann')
    expect(matchmaker.getTicket('ben')).toMatchObject({ status: 'SEARCHING', createdAt, attempts: 0 })
    expect(seen.ticketRequeued).toMatchObject([{ reason: 'dissolved', ticket: { id: 'ben' } }])
    await run(1000)
    expect(service.unstopped()).toEqual([])
    expect(seen.deploymentStopped).toMatchObject([{ requestId: 'r1', reason: 'dissolved' }])

    join('cas')
    await run(8000)
    expect(matchmaker.getTicket('ben')?.assignment?.fqdn).toBe('r2.example.com')
  })

  test('cancelTicket is refused once the players have the server address', async () => {
    const { matchmaker, join, run } = setUp()
    join('ann', 'ben')
    await run(6000)
    expect(() => matchmaker.cancelTicket('ann-ben')).toThrow(AlreadyAssigned)
  })

  test('a listener of `matchFound` can cancel the tickets of that match', async () => {
    const { matchmaker, service, join, run, status } = setUp()
    matchmaker.on('ticketRequeued', ({ ticket }) => void matchmaker.cancelTicket(ticket.id))
    matchmaker.on('matchFound', () => void matchmaker.cancelTicket('ann'))
    join('ann')
    join('ben')
    await run(8000)
    expect([status('ann'), status('ben')]).toEqual(['CANCELLED', 'CANCELLED'])
    expect(service.calls.create.length).toBeLessThanOrEqual(1)
    expect(service.unstopped()).toEqual([])
  })

  test('a listener of `ticketRequeued` can cancel another ticket of a dissolved match', async () => {
    const { matchmaker, service, seen, join, run, status } = setUp({ queues: [{ ...duel, matchSize: 3 }] })
    matchmaker.on('ticketRequeued', ({ ticket }) => void (ticket.id === 'ben' && matchmaker.cancelTicket('cas')))
    join('ann')
    join('ben')
    join('cas')
    await run(1000)
    matchmaker.cancelTicket('ann')
    expect([status('ann'), status('ben'), status('cas')]).toEqual(['CANCELLED', 'SEARCHING', 'CANCELLED'])
    expect(seen.ticketRequeued?.map(({ ticket }) => ticket.id)).toEqual(['ben'])
    await run(1000)
    expect(service.unstopped()).toEqual([])
  })

  test('cancelTicket before the create is recorded prevents the create', async () => {
    let written = () => {}
    const serverLog = { ...NO_SERVER_LOG, append: () => new Promise<void>((resolve) => (written = resolve)) }
    const { clock, matchmaker, service, join, run } = setUp({ serverLog })
    join('ann', 'ben')
    void matchmaker.tick()
    await clock.advance(250)
    matchmaker.cancelTicket('ann-ben')
    written()
    await run(1000)
    expect(service.calls.create).toEqual([])
    expect(matchmaker.inspect().matches).toEqual([])
  })

  test('stopMatch of a starting match lets all its tickets search again', async () => {
    const { matchmaker, service, join, run } = setUp()
    join('ann', 'ben')
    await run(1000)
    await matchmaker.stopMatch(matchmaker.getTicket('ann-ben')?.matchId ?? '')
    expect(matchmaker.getTicket('ann-ben')).toMatchObject({ status: 'SEARCHING', attempts: 0 })
    expect(service.unstopped()).toEqual([])
  })
})

describe('close of a matchmaker without a store', () => {
  test('close without a store cancels searching tickets and stops starting servers, not running servers', async () => {
    const { clock, matchmaker, service, join, run, status } = setUp()
    join('ann', 'ben')
    await run(6000)
    join('cas', 'dee')
    await run(500)
    join('eve')
    matchmaker.start()
    const closed = matchmaker.close()
    await clock.advance(1000)
    expect(await closed).toEqual([])
    expect([status('ann-ben'), status('cas-dee'), status('eve')]).toEqual(['HOST_ASSIGNED', 'CANCELLED', 'CANCELLED'])
    expect(matchmaker.getTicket('cas-dee')?.cancelReason).toBe('closed')
    expect(service.unstopped()).toEqual(['r1'])
    expect(() => join('fay')).toThrow(MatchmakerClosed)
    expect(clock.sleepers).toBe(0)
  })

  test('close stops running servers too if requested, and waits for creates in flight', async () => {
    const { clock, matchmaker, service, join, run } = setUp({ service: { latencyMs: () => 300 } })
    join('ann', 'ben')
    await run(8000)
    join('cas', 'dee')
    await matchmaker.tick()
    expect(service.calls.create).toHaveLength(2)
    const closed = matchmaker.close({ stopServers: true })
    await clock.advance(3000)
    expect(await closed).toEqual([])
    expect(service.unstopped()).toEqual([])
    expect(service.records).toHaveLength(2)
  })

  test('close refuses invalid options, and the matchmaker stays open', async () => {
    const { matchmaker, join } = setUp()
    const refused: readonly (readonly [options: object, message: string])[] = [
      [{ stopServer: true }, 'option stopServer: is not known; did you mean stopServers?'],
      [{ stopServers: 'no' }, 'option stopServers: must be true or false'],
      [{ timeoutMs: NaN }, 'option timeoutMs: must be milliseconds from 0, or Infinity, got NaN'],
      [{ handOver: true }, 'option handOver: needs a store'],
    ]
    for (const [options, message] of refused) await expect(matchmaker.close(options)).rejects.toThrow(message)
    expect(join('ann')).toMatchObject({ status: 'SEARCHING' })
  })

  test('close reports the servers that it could not stop in time', async () => {
    const { clock, matchmaker, seen, join, run } = setUp({
      service: { fault: (method) => (method === 'stop' ? { error: new ServerError('down') } : undefined) },
    })
    join('ann', 'ben')
    await run(6000)
    const { matchId = '' } = matchmaker.getTicket('ann-ben') ?? {}
    const stopped = matchmaker.stopMatch(matchId).catch((error: unknown) => error)
    const closed = matchmaker.close({ timeoutMs: 5000 })
    await clock.advance(6000)
    expect(await closed).toMatchObject([{ matchId, requestId: 'r1', phase: 'stopping' }])
    expect(seen.problem?.length).toBeGreaterThan(1)
    expect(await stopped).toBeInstanceOf(MatchmakerClosed)
  })
})
