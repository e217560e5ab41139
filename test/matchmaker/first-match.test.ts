import type { Fault } from '@muster/emulator'
import { describe, expect, test } from 'vitest'
import { nothingLeft, openStudio as open, until } from './studio.js'

describe.each(['specification', 'observed'] as const)('a first match on a service in mode %s', (as) => {
  const openStudio = (given: Parameters<typeof open>[0] = {}) => open({ ...given, emulator: { ...given.emulator, as } })

  test.concurrent('two players get a match: both receive the address, and their server gets their data', async () => {
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

  test.concurrent('close leaves nothing behind while servers start and creates are in flight', async () => {
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

describe.concurrent('a failing create', () => {
  test.each<[what: string, fault: Omit<Fault, 'operation'>, deployments: number]>([
    ['the answer is lost after the effect', { drop: 'after' }, 1],
    ['the answer is lost before the effect', { drop: 'before' }, 1],
    ['the answer is not JSON', { body: 'html' }, 1],
    ['the answer is a 500 in spite of the effect', { status: 500, effect: true }, 1],
    ['the answer is a 500', { status: 500 }, 1],
    ['there is no capacity', { deployment: 'no capacity' }, 2],
    ['the server ends in error', { deployment: 'error' }, 2],
    ['the create is refused', { status: 400, message: 'no' }, 1],
  ])(
    'after a failed create the match gets one server, and nothing else is left behind: %s',
    async (_, fault, expected) => {
      const { deployments, ticket, join, hasServer, shut } = await open({
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
    },
  )

  test('a server that is never READY is stopped, and its match gets another server', async () => {
    const faults: Fault[] = [{ operation: 'deployments.create', nth: [1], deployment: 'stay deploying' }]
    const { deployments, ticket, join, hasServer, shut } = await open({ emulator: { as: 'observed', faults } })
    join('ann', 'ben')
    await hasServer('ann-ben')
    expect(ticket('ann-ben')?.attempts).toBe(1)
    expect(deployments()).toHaveLength(2)
    expect(await shut()).toEqual(nothingLeft)
  })
})
