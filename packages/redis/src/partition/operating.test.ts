/**
 * Tests private matches, cooldowns and pauses in a partition: commands through a follower must be known to the next
 * leader.
 */
import { InvalidMatch, PlayerBusy, PlayerCoolingDown } from '@muster/matchmaker'
import { describe, expect, test } from 'vitest'
import { createPair, duel } from './world.fixture.js'

const cooldown = { firstMs: 20_000, forgiveAfterMs: 20_000 }
const asking = { ...duel, acceptance: { withinMs: 10_000 }, cooldown }

describe('a cooldown of a player', () => {
  test('a cooldown applies in every process, even under the next leader, until it is forgiven', async () => {
    const { second, join, again, answer, pass, takeOver, close, problems } = await createPair({ queues: [asking] })
    await join('ann', 'bob')
    await pass(500)
    await answer(second.declineMatch('ann'))
    await pass(100)
    await expect(again('ann')).rejects.toThrow(PlayerCoolingDown)
    const before = await answer(second.cooldownsOf('ann'))
    expect(before).toMatchObject([{ playerId: 'ann', name: 'duel', offences: 1 }])
    await takeOver()
    expect(await answer(second.cooldownsOf('ann'))).toEqual(before)
    await expect(again('ann')).rejects.toThrow(PlayerCoolingDown)
    await answer(second.forgive('ann'))
    await pass(100)
    expect(await again('ann')).toMatchObject({ status: 'SEARCHING' })
    expect(problems).toEqual([])
    await close()
  })

  test('a cancel of a found match starts a cooldown if it is from the player, but not from a backend', async () => {
    const { second, join, again, answer, pass, ticket, close } = await createPair({ queues: [asking] })
    await join('ann', 'bob')
    await pass(500)
    await answer(second.cancelTicket('ann', 'ann'))
    await pass(200)
    await expect(again('ann')).rejects.toThrow(PlayerCoolingDown)
    await join('cas')
    await pass(500)
    expect(await ticket('bob')).toMatchObject({ status: 'MATCH_FOUND' })
    await answer(second.cancelTicket('bob'))
    await pass(200)
    expect(await again('bob')).toMatchObject({ status: 'SEARCHING' })
    await close()
  })

  test('a cooldown ends with time, and is then deleted from the store', async () => {
    const { second, join, again, answer, pass, partition, close } = await createPair({ queues: [asking] })
    await join('ann', 'bob')
    await pass(500)
    await answer(second.declineMatch('ann'))
    await answer(second.cancelTicket('bob'))
    await pass(20_000, 100)
    expect(await again('ann')).toMatchObject({ status: 'SEARCHING' })
    // The other two notes are the master secret of the servers' tokens and the name of the partition.
    expect(partition.notes.size).toBe(3)
    await pass(20_500, 100)
    expect([...partition.notes.keys()].toSorted()).toEqual(['i', 's'])
    await close()
  })

  test('a cooldown does not affect a ticket that already exists', async () => {
    const { second, join, answer, pass, player, close } = await createPair({ queues: [asking] })
    await join('ann', 'bob')
    await pass(500)
    await answer(second.declineMatch('ann'))
    await pass(100)
    const repeated = answer(second.createTicket({ id: 'ann', queue: 'duel', players: [player('ann')] }))
    expect(await repeated).toMatchObject({ id: 'ann', status: 'CANCELLED' })
    await close()
  })
})

describe('a private match', () => {
  const queue = { ...duel, matchSize: undefined, teams: [{ name: 'side', count: 2, size: 2 }] }
  const given = ({ player }: Pick<Awaited<ReturnType<typeof createPair>>, 'player'>) => ({
    id: 'm',
    queue: 'duel',
    teams: [
      { name: 'side-1', players: [player('ann'), player('bob')] },
      { name: 'side-2', players: [player('cas')] },
    ],
  })

  test('a private match is created by any process, once, and its players get the server address', async () => {
    const world = await createPair({ queues: [queue] })
    const { second, answer, pass, ticket, service, close, problems } = world
    const made = await answer(second.createMatch(given(world)))
    expect(made).toMatchObject({
      id: 'm',
      tickets: [
        { id: 'm-1', status: 'SEARCHING', waitingFor: 'servers', privateMatch: 'm', players: [{ id: 'ann' }, {}] },
        { id: 'm-2', privateMatch: 'm' },
      ],
    })
    await pass(2500)
    expect(await ticket('m-1')).toMatchObject({ status: 'HOST_ASSIGNED', team: 'side-1', privateMatch: 'm' })
    expect(await ticket('m-2')).toMatchObject({ status: 'HOST_ASSIGNED', team: 'side-2' })
    expect((await answer(second.createMatch(given(world)))).tickets).toMatchObject([
      { status: 'HOST_ASSIGNED' },
      { status: 'HOST_ASSIGNED' },
    ])
    const [one, other] = given(world).teams
    const swapped = {
      ...given(world),
      teams: [
        { ...one, name: 'side-2' },
        { ...other, name: 'side-1' },
      ] as never,
    }
    await expect(answer(second.createMatch(swapped))).rejects.toThrow(InvalidMatch)
    expect(service.servers).toHaveLength(1)
    expect(problems).toEqual([])
    await close()
  })

  test('a private match is refused without effect if one of its players is queued', async () => {
    const world = await createPair({ queues: [queue] })
    const { second, join, answer, ticket, close } = world
    await join('cas')
    await expect(answer(second.createMatch(given(world)))).rejects.toThrow(new PlayerBusy('cas', 'cas'))
    expect(await ticket('m-1')).toBeUndefined()
    expect(await join('ann')).toMatchObject([{ status: 'SEARCHING' }])
    await close()
  })

  test('a private match keeps waiting for a server under the next leader, and dissolves as a whole', async () => {
    const world = await createPair({ queues: [{ ...queue, acceptance: { withinMs: 10_000, replace: true } }] })
    const { second, answer, pass, ticket, takeOver, close } = world
    await answer(second.pauseQueue('duel'))
    await answer(second.createMatch(given(world)))
    await pass(500)
    await takeOver()
    expect(await ticket('m-1')).toMatchObject({ status: 'SEARCHING', waitingFor: 'servers' })
    await answer(second.resumeQueue('duel'))
    await pass(500)
    expect(await ticket('m-2')).toMatchObject({ status: 'MATCH_FOUND', acceptance: { accepted: [] } })
    await answer(second.cancelTicket('m-2'))
    await pass(500)
    expect(await ticket('m-1')).toMatchObject({ status: 'CANCELLED', cancelReason: 'dissolved' })
    await close()
  })
})

describe('the event ticketCreated', () => {
  test('ticketCreated is emitted once for each ticket, in the process that was called', async () => {
    const { first, second, player, join, answer, close } = await createPair({ queues: [asking] })
    const heard: string[] = []
    first.on('ticketCreated', ({ ticket }) => heard.push(`first ${ticket.id}`))
    second.on('ticketCreated', ({ ticket }) => heard.push(`second ${ticket.id}`))
    await join('ann')
    await join('ann')
    await answer(first.createTicket({ id: 'bob', queue: 'duel', players: [player('bob')] }))
    const teams = [{ name: 'team', players: [player('cas'), player('dan')] }]
    const made = await answer(second.createMatch({ id: 'm', queue: 'duel', teams }))
    await answer(second.createMatch({ id: 'm', queue: 'duel', teams }))
    expect(heard).toEqual(['second ann', 'first bob', ...made.tickets.map(({ id }) => `second ${id}`)])
    await close()
  })
})
