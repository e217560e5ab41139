import { ServerError } from '@muster/core'
import { describe, expect, test } from 'vitest'
import { NothingToAccept } from '../errors.js'
import type { MatchmakerEvents } from '../events.js'
import { deploy, setUp } from '../matchmaker.fixture.js'
import type { QueueDefinition } from '../queues/queue.js'
import { social, running } from './backfill.fixture.js'

describe('the end of a backfill', () => {
  test('a backfill is cancelled when its match ends, and stays readable for its retention time', async () => {
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

  test('matchOver of a stopped match names who joined, and not who was about to join', async () => {
    const { matchmaker, join, run, matchId } = await running({ acceptance: { withinMs: 60_000 } })
    const over: MatchmakerEvents['matchOver'][] = []
    matchmaker.on('matchOver', (event) => over.push(event))
    matchmaker.createBackfill({ matchId })
    join('cas')
    await run(250)
    matchmaker.acceptMatch('cas')
    join('dee')
    await run(250)
    expect(matchmaker.getTicket('dee')).toMatchObject({ status: 'MATCH_FOUND', matchId })
    await matchmaker.stopMatch(matchId)
    expect(over).toMatchObject([{ playerIds: ['ann', 'ben', 'cas'], ticketIds: ['ann', 'ben', 'cas'] }])
  })

  describe('a backfill whose match ends while its server cannot be stopped', () => {
    /** Runs a match whose server must be stopped two seconds after the assignment. Every stop fails. */
    const ending = (queue: Partial<QueueDefinition> = {}) =>
      setUp({
        queues: [{ ...social, ...queue, deploy: { ...deploy, maxDurationMs: 2000 } }],
        service: { fault: (method) => (method === 'stop' ? { error: new ServerError('down') } : undefined) },
      })

    test('a backfill is cancelled when its match ends, even if its server cannot be stopped', async () => {
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

    test('a ticket joining by a backfill searches again if the match ends before it accepts', async () => {
      const { matchmaker, join, run, status } = ending({ acceptance: { withinMs: 60_000 } })
      const over: MatchmakerEvents['matchOver'][] = []
      matchmaker.on('matchOver', (event) => over.push(event))
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
      // The match is over at once, so the player searches again without having to accept.
      expect(status('cas')).toBe('SEARCHING')
      expect(() => matchmaker.acceptMatch('cas')).toThrow(NothingToAccept)
      expect(over).toMatchObject([{ matchId, playerIds: ['ann', 'ben'], ticketIds: ['ann', 'ben'] }])
    })
  })

  test('a backfill is cancelled when the server of its match ends by itself', async () => {
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
  ] as const)(
    'with `backfill: %s` and an open backfill on server r1, two new players play on server %s',
    async (backfill, server) => {
      const { matchmaker, join, run, matchId } = await running({ backfill })
      matchmaker.createBackfill({ matchId })
      join('cas')
      join('dee')
      await run(6500)
      const hosts = ['cas', 'dee'].map((id) => matchmaker.getTicket(id)?.assignment?.fqdn)
      expect(hosts).toEqual([`${server}.example.com`, `${server}.example.com`])
    },
  )
})
