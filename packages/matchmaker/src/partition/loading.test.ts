import { expect, test } from 'vitest'
import { createWorld, deploy, duel } from './leader.fixture.js'

test('a ticket loaded by a partition leader is matched, and its changes are reported in version order', async () => {
  const { join, process, stored, service } = createWorld()
  const { leader, changes, served, run } = process()
  await leader.lead()
  expect(leader.load([join('ann'), join('ben')])).toEqual([])
  expect(changes).toEqual([])
  await run(6500)
  for (const id of ['ann', 'ben']) {
    const views = changes.filter((ticket) => ticket.id === id)
    expect(views.map(({ version, status }) => [version, status])).toEqual([
      [2, 'MATCH_FOUND'],
      [3, 'HOST_ASSIGNED'],
    ])
    expect(stored.get(id)?.state).toMatchObject({ status: 'HOST_ASSIGNED', assignment: { fqdn: 'r1.example.com' } })
    expect(leader.getTicket(id)).toEqual(views.at(-1))
  }
  expect(served.toSorted()).toEqual(['ann', 'ben'])
  expect(service.unstopped()).toEqual(['r1'])
})

test('a ticket loaded by a partition leader keeps its time of creation, version and attempts', async () => {
  const { join, process, clock } = createWorld()
  const ann = join('ann')
  await clock.advance(60_000)
  const { leader, changes } = process()
  leader.load([{ ...ann, state: { version: 7, status: 'SEARCHING', waitingFor: 'players', attempts: 2 } }])
  await leader.lead()
  expect(leader.getTicket('ann')).toMatchObject({
    createdAt: ann.createdAt,
    version: 7,
    attempts: 2,
    waitingFor: 'players',
  })
  expect(changes).toEqual([])
  expect(leader.explain('ann').waitedMs).toBe(60_000)
})

test('loading a ticket again does not change it, in any state of the ticket', async () => {
  const { join, process, stored } = createWorld()
  const { leader, run, changes } = process()
  await leader.lead()
  const both = [join('ann'), join('ben')]
  leader.load(both)
  leader.load(both)
  await run(500)
  leader.load(both)
  expect(leader.getTicket('ann')?.status).toBe('MATCH_FOUND')
  leader.cancelTicket('ann')
  leader.load(both)
  expect(leader.getTicket('ann')?.status).toBe('CANCELLED')
  leader.load([...stored.values()])
  expect(changes.map(({ id, version }) => `${id} ${version}`)).toEqual(['ann 2', 'ben 2', 'ann 3', 'ben 3'])
})

test('a loaded new ticket with the id of an ended ticket replaces the ended ticket', async () => {
  const { join, process, clock } = createWorld()
  const { leader } = process()
  await leader.lead()
  leader.load([join('ann')])
  leader.cancelTicket('ann')
  await clock.advance(1000)
  leader.load([join('ann')])
  expect(leader.getTicket('ann')).toMatchObject({ status: 'SEARCHING', version: 1, createdAt: clock.now() })
  await clock.advance(100_000)
  await leader.tick()
  expect(leader.getTicket('ann')?.status).toBe('SEARCHING')
})

test('a standby lets no ticket expire before it leads', async () => {
  const short = { ...duel, expireAfterMs: 5000 }
  const { join, process, clock } = createWorld({ queues: [short] })
  const { leader, changes, seen } = process()
  const ann = join('ann')
  await clock.advance(6000)
  leader.load([ann])
  expect(leader.getTicket('ann')).toMatchObject({ status: 'SEARCHING', version: 1 })
  expect(changes).toEqual([])
  await leader.lead()
  expect(changes).toMatchObject([{ id: 'ann', version: 2, status: 'CANCELLED', cancelReason: 'expired' }])
  expect(seen.expired).toHaveLength(1)
})

test('a standby loads newer ticket states, ignores older states, and unloads tickets', async () => {
  const { join, process } = createWorld()
  const { leader, changes, run } = process()
  const [ann, ben, cas] = [join('ann'), join('ben'), join('cas')]
  const searching = { status: 'SEARCHING', waitingFor: 'players', attempts: 0 } as const
  leader.load([ann, ben, cas])
  leader.load([{ ...ann, state: { ...searching, version: 3, attempts: 1 } }])
  leader.load([{ ...ann, state: { ...searching, version: 2 } }])
  expect(leader.getTicket('ann')).toMatchObject({ version: 3, attempts: 1 })
  leader.unload(['ben', 'nobody'])
  expect(leader.getTicket('ben')).toBeUndefined()
  await leader.lead()
  expect(() => leader.unload(['ann'])).toThrow('another process leads')
  await run(250)
  expect(changes.map(({ id, version }) => `${id} ${version}`).toSorted()).toEqual(['ann 4', 'cas 2'])
})

test('a loaded ticket in a match without a server searches again once this process leads', async () => {
  const { join, process } = createWorld()
  const first = process()
  await first.leader.lead()
  first.leader.load([join('ann')])
  const { leader, changes } = process()
  const ben = join('ben')
  const found = {
    version: 2,
    status: 'MATCH_FOUND',
    attempts: 0,
    matchId: 'm',
    queue: 'duel',
    team: 'team',
    matchedAt: 1,
  } as const
  leader.load([{ ...ben, state: found }])
  expect(changes).toEqual([])
  await leader.lead()
  expect(changes).toMatchObject([{ id: 'ben', version: 3, status: 'SEARCHING', matchId: undefined }])
})

test('a loaded ticket is cancelled if all its queues are gone, and keeps its place in a remaining queue', async () => {
  const { create, process, checker } = createWorld()
  const { leader, changes } = process()
  checker.reconfigure([duel, { ...duel, name: 'new' }])
  const players = (id: string) => [{ id, ip: '198.51.100.7' }]
  const ann = create({ id: 'ann', queue: 'new', players: players('ann') })
  const ben = create({ id: 'ben', queues: ['new', 'duel'], players: players('ben') })
  await leader.lead()
  expect(leader.load([ann, ben])).toEqual([])
  expect(changes).toMatchObject([{ id: 'ann', status: 'CANCELLED', cancelReason: 'refused' }])
  expect(leader.getTicket('ben')).toMatchObject({ status: 'SEARCHING', queues: ['new', 'duel'] })
})

test('unreadable and ended tickets are reported on loading, and all other tickets are loaded', async () => {
  const { join, process } = createWorld()
  const { leader } = process()
  await leader.lead()
  const ended = { version: 2, status: 'CANCELLED', attempts: 0 } as const
  const failed = leader.load([
    { id: 'odd', body: 'nonsense', createdAt: 1 },
    { id: 'odder', body: '{}', createdAt: 1 },
    { ...join('ann'), state: ended },
    join('ben'),
  ])
  expect(failed.map(({ id }) => id)).toEqual(['odd', 'odder', 'ann'])
  expect(leader.getTicket('ben')?.status).toBe('SEARCHING')
  expect(leader.getTicket('odder')).toBeUndefined()
})

test('loading a ticket triggers matching in a queue of mode `arrival`', async () => {
  const { join, process, clock } = createWorld({ queues: [{ ...duel, mode: 'arrival' }], tickMs: 60_000 })
  const { leader } = process()
  await leader.lead()
  leader.start()
  await clock.advance(1)
  leader.load([join('ann')])
  leader.load([join('ben')])
  await clock.advance(1)
  expect(leader.getTicket('ann')?.status).toBe('MATCH_FOUND')
  await leader.stop()
})

test('players of loaded tickets without coordinates are located once, even if newer states are loaded', async () => {
  const asked: string[] = []
  const { join, process, clock } = createWorld({
    queues: [{ name: 'duel', matchSize: 2, deploy, rules: [{ kind: 'distance', maxKm: 100 }] }],
  })
  const { leader, changes } = process({
    locate: async (ip) => {
      asked.push(ip)
      await clock.sleep(100)
      return { latitude: 1, longitude: 2 }
    },
  })
  const ann = join('ann')
  leader.load([ann])
  leader.load([{ ...ann, state: { version: 2, status: 'SEARCHING', waitingFor: 'location', attempts: 0 } }])
  await clock.advance(200)
  leader.load([{ ...ann, state: { version: 3, status: 'SEARCHING', waitingFor: 'players', attempts: 0 } }])
  expect(asked).toHaveLength(1)
  await leader.lead()
  expect(leader.getTicket('ann')).toMatchObject({ version: 3, waitingFor: 'players' })
  expect(changes).toEqual([])
  expect(leader.exportTickets().tickets[0]?.place).toEqual({ latitude: 1, longitude: 2 })
})

test('a loaded ticket of a player over the limit of servers is cancelled if new, and kept if it waited', async () => {
  const { join, process, state } = createWorld()
  const { leader, run } = process({ maxServersPerPlayer: 1 })
  await leader.lead()
  leader.load([join('ann'), join('ben')])
  await run(7000)
  leader.playersLeft(leader.getTicket('ann')?.matchId ?? '', ['ann', 'ben'])
  leader.load([join('ann', 'cas'), { ...join('ben', 'dee'), state: { version: 1, status: 'SEARCHING', attempts: 0 } }])
  expect(state('ann-cas')).toMatchObject({ version: 2, status: 'CANCELLED', cancelReason: 'refused' })
  expect(leader.getTicket('ben-dee')?.status).toBe('SEARCHING')
})
