import type { Fault } from '@muster/emulator'
import { AlreadyAssigned } from '@muster/matchmaker'
import { describe, expect, test } from 'vitest'
import { nothingLeft, openStudio as open, until } from './studio.js'

describe.each(['specification', 'observed'] as const)('on a service as in mode %s,', (as) => {
  const openStudio = (given: Parameters<typeof open>[0] = {}) => open({ ...given, emulator: { ...given.emulator, as } })

  test.concurrent('two players are matched, receive the address, and the server knows them', async () => {
    const { emulator, matchmaker, deployments, ticket, join, hasServer, shut } = await openStudio()
    join('ann')
    join('ben')
    await hasServer('ben')
    const [server] = deployments()
    const { matchId = '', assignment } = ticket('ann') ?? {}
    expect(assignment).toMatchObject({
      fqdn: server?.fqdn,
      publicIp: server?.public_ip,
      location: { city: server?.location?.city },
    })
    expect(assignment?.ports['game']).toEqual({
      internal: 7777,
      external: server?.ports?.['game']?.external,
      protocol: 'UDP',
      link: server?.ports?.['game']?.link,
    })
    expect(server?.tags).toEqual(['mm-muster', `match-${matchId}`])

    const environment = emulator.environment(server?.request_id ?? '') ?? {}
    expect(environment).toMatchObject({
      MM_MATCH_ID: matchId,
      MM_MATCH_PROFILE: 'duel',
      MM_TICKET_IDS: '["ann","ben"]',
    })
    expect(JSON.parse(environment['MM_TICKET_ann'] ?? '')).toMatchObject({ id: 'ann', players: ['ann'] })
    expect(JSON.stringify(environment)).not.toContain('192.0.2')

    await matchmaker.stopMatch(matchId)
    await until('the server has ended', () => deployments()[0]?.current_status === 'Status.TERMINATED')
    expect(await shut()).toEqual(nothingLeft)
  })

  describe.concurrent('a failing create', () => {
    test.each<[what: string, fault: Omit<Fault, 'operation'>, deployments: number]>([
      ['its answer is lost after the effect', { drop: 'after' }, 1],
      ['its answer is lost before the effect', { drop: 'before' }, 1],
      ['its answer is not JSON', { body: 'html' }, 1],
      ['its answer is a 500 in spite of the effect', { status: 500, effect: true }, 1],
      ['its answer is a 500', { status: 500 }, 1],
      ['there is no capacity', { deployment: 'no capacity' }, 2],
      ['the server ends in error', { deployment: 'error' }, 2],
      ['it is refused', { status: 400, message: 'no' }, 1],
    ])('%s: the players get one server, and nothing else is left', async (_, fault, expected) => {
      const { deployments, ticket, join, hasServer, shut } = await openStudio({
        emulator: { faults: [{ operation: 'deployments.create', nth: [1], ...fault }] },
      })
      const { createdAt } = join('ann', 'ben')
      await hasServer('ann-ben')
      expect(ticket('ann-ben')?.createdAt).toBe(createdAt)
      await until(
        'one server is left',
        () => deployments().filter((one) => one.current_status === 'Status.READY').length === 1,
      )
      expect(deployments()).toHaveLength(expected)
      expect(await shut()).toEqual(nothingLeft)
    })

    test('that never becomes READY is stopped, and another one is made', async () => {
      const faults: Fault[] = [{ operation: 'deployments.create', nth: [1], deployment: 'stay deploying' }]
      const { deployments, ticket, join, hasServer, shut } = await openStudio({ emulator: { faults } })
      join('ann', 'ben')
      await hasServer('ann-ben')
      expect(ticket('ann-ben')?.attempts).toBe(1)
      expect(deployments()).toHaveLength(2)
      expect(await shut()).toEqual(nothingLeft)
    })
  })

  describe.concurrent('cancelling', () => {
    const cancelling = async (
      when: (studio: Awaited<ReturnType<typeof openStudio>>) => Promise<void>,
      faults: readonly Fault[] = [],
    ) => {
      const studio = await openStudio({ emulator: { faults } })
      studio.join('ann')
      studio.join('ben')
      await when(studio)
      expect(studio.matchmaker.cancelTicket('ann').status).toBe('CANCELLED')
      expect(studio.ticket('ben')).toMatchObject({ status: 'SEARCHING' })
      studio.join('cas')
      await studio.hasServer('ben')
      expect(studio.ticket('ben')?.matchId).toBe(studio.ticket('cas')?.matchId)
      return studio.shut()
    }

    test('ends a search', async () => {
      expect(await cancelling(async () => {})).toEqual(nothingLeft)
    })
    test('ends a create in flight', async () => {
      const slow: Fault = { operation: 'deployments.create', nth: [1], delayMs: 300 }
      expect(
        await cancelling(
          ({ ticket }) => until('a match is found', () => ticket('ann')?.status === 'MATCH_FOUND'),
          [slow],
        ),
      ).toEqual(nothingLeft)
    })
    test('ends a create whose answer was lost', async () => {
      const lost: Fault = { operation: 'deployments.create', nth: [1], drop: 'after' }
      const isLost = (studio: Awaited<ReturnType<typeof openStudio>>) =>
        until('the answer is lost', () => studio.matchmaker.inspect().matches[0]?.phase === 'finding')
      expect(await cancelling(isLost, [lost])).toEqual(nothingLeft)
    })
    test('ends a starting server', async () => {
      const starts = (studio: Awaited<ReturnType<typeof openStudio>>) =>
        until('the server starts', () => studio.deployments().length === 1)
      expect(await cancelling(starts)).toEqual(nothingLeft)
    })
    test('is refused when the players know their server', async () => {
      const { matchmaker, join, hasServer, shut } = await openStudio()
      join('ann', 'ben')
      await hasServer('ann-ben')
      expect(() => matchmaker.cancelTicket('ann-ben')).toThrow(AlreadyAssigned)
      expect(await shut()).toEqual(nothingLeft)
    })
  })

  test.concurrent('closing while servers start and creates are in flight leaves nothing', async () => {
    const { matchmaker, deployments, join, shut } = await openStudio({
      emulator: { faults: [{ operation: 'deployments.create', nth: [3], delayMs: 500 }] },
    })
    for (const pair of [
      ['a', 'b'],
      ['c', 'd'],
      ['e', 'f'],
    ])
      join(...pair)
    await until('two servers start', () => deployments().length === 2)
    expect(matchmaker.inspect().matches).toHaveLength(3)
    expect(await shut()).toEqual(nothingLeft)
    expect(['a-b', 'c-d', 'e-f'].map((id) => matchmaker.getTicket(id)?.cancelReason)).toEqual([
      'closed',
      'closed',
      'closed',
    ])
  })
})
