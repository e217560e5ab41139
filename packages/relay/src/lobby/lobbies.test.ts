import { InvalidInput } from '@muster/core'
import { createManualClock, seededRandom } from '@muster/core/clock'
import { describe, expect, test } from 'vitest'
import { RelayClosed, RelayNotDeleted } from '../errors.js'
import { createFakeService } from '../fake-service.fixture.js'
import { createRelaySessions } from '../sessions/sessions.js'
import { createLobbies } from './create-lobbies.js'
import { ann, bob, codeOf, failing, player, setUp, withThree } from './lobbies.fixture.js'
import { createMemoryLobbyStore } from './memory-store.js'

describe('a lobby', () => {
  test('a caller cannot change the data of a lobby in a view, a list or an event', async () => {
    const { lobbies, lobbyId } = await withThree({}, { data: { map: 'ice' }, visibility: 'public' })
    const by = { lobbyId, playerId: 'ann' }
    await lobbies.setMemberData({ ...by, changes: { hat: 'red' } })
    await lobbies.setData({ ...by, changes: { mode: 'ctf' } })
    const view = await lobbies.get(by)
    const { lobbies: listed } = await lobbies.list()
    const { messages } = await lobbies.poll({ ...by, after: 0, waitMs: 0 })
    const changes = messages.flatMap((message) => ('changes' in message ? [message.changes] : []))
    const shown = [view.data, view.members[0]?.data, listed[0]?.data, ...changes]
    expect(shown).toEqual([{ map: 'ice', mode: 'ctf' }, { hat: 'red' }, view.data, { hat: 'red' }, { mode: 'ctf' }])
    for (const data of shown) expect(() => Object.assign(data ?? {}, { map: 'changed' })).toThrow(TypeError)
    expect(await lobbies.get(by)).toEqual(view)
  })

  test('a lobby is created, joined and listed without showing an address', async () => {
    const { lobbies, lobbyId, code } = await withThree({}, { data: { map: 'ice' } })
    const view = await lobbies.get({ lobbyId, playerId: 'bob' })
    expect(view).toMatchObject({ code, hostId: 'ann', phase: 'open', data: { map: 'ice' }, run: null })
    expect(view.members.map(({ playerId, slot, host }) => [playerId, slot, host])).toEqual([
      ['ann', 0, true],
      ['bob', 1, false],
      ['cleo', 2, false],
    ])
    expect(JSON.stringify(view)).not.toMatch(/192\.0\.2|198\.51/)
    const { lobbies: listed } = await lobbies.list({ data: { map: 'ice' } })
    expect(listed).toEqual([
      {
        lobbyId,
        phase: 'open',
        entry: 'open',
        maxPlayers: 4,
        players: 3,
        data: { map: 'ice' },
        createdAt: view.createdAt,
      },
    ])
    expect((await lobbies.list({ minFree: 2 })).lobbies).toEqual([])
    expect(codeOf(await failing(lobbies.get({ lobbyId, playerId: 'eve' })))).toBe('no-such-lobby')
  })

  test('a lobby is found by its members, each with their own view, until they leave or it is closed', async () => {
    const { lobbies, lobbyId } = await withThree()
    const of = async (id: string) => (await lobbies.ofPlayer(id)).map((lobby) => lobby.lobbyId)
    expect(await lobbies.ofPlayer('bob')).toEqual([await lobbies.get({ lobbyId, playerId: 'bob' })])
    expect(await of('eve')).toEqual([])
    const other = await lobbies.create({ player: bob, maxPlayers: 2 })
    expect(await of('bob')).toEqual([lobbyId, other.lobbyId])
    await lobbies.leave({ lobbyId, playerId: 'bob' })
    expect(await of('bob')).toEqual([other.lobbyId])
    await lobbies.end({ lobbyId, playerId: 'ann' })
    expect(await of('cleo')).toEqual([])
  })

  test('a query for the lobbies of a player reads at most 16 lobbies', async () => {
    const { lobbies } = setUp({ limits: { lobbiesPerPlayer: null, createsPerPlayer: null } })
    for (let index = 0; index < 20; index += 1) await lobbies.create({ player: ann, maxPlayers: 2 })
    expect(await lobbies.ofPlayer('ann')).toHaveLength(16)
  })

  test('the last free slot of a lobby goes to only one of many players who join concurrently', async () => {
    const { lobbies, code } = await withThree()
    const joined = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        failing(lobbies.join({ player: player(`p${index}`, `203.0.113.${index}`), code })),
      ),
    )
    expect(joined.filter((one) => one === 'no error')).toHaveLength(1)
  })

  test('the host of a lobby approves applicants if the lobby requires approval', async () => {
    const { clock, lobbies } = setUp()
    const { lobbyId, code } = await lobbies.create({ player: ann, maxPlayers: 2, approval: true })
    expect(await lobbies.join({ player: bob, code })).toEqual({ status: 'waiting', lobbyId })
    const waiting = lobbies.follow({ lobbyId, playerId: 'bob' })
    const first = waiting.next()
    await clock.advance(0)
    await lobbies.decide({ lobbyId, playerId: 'ann', applicantId: 'bob', approve: true })
    expect((await first).value).toMatchObject({ type: 'applicant.decided', approved: true })
    expect((await waiting.next()).value).toMatchObject({ type: 'member.joined', playerId: 'bob' })
    expect((await waiting.next()).value).toMatchObject({ type: 'snapshot', lobby: { lobbyId } })
    expect(await lobbies.join({ player: bob, code })).toMatchObject({ status: 'joined' })
    await waiting.return()
  })

  test('a player who creates too many lobbies is refused', async () => {
    const { lobbies } = setUp({ limits: { createsPerPlayer: { limit: 2, windowMs: 1000 } } })
    const make = () => failing(lobbies.create({ player: ann, maxPlayers: 2 }))
    expect([await make(), await make(), codeOf(await make())]).toEqual(['no error', 'no error', 'too-many-attempts'])
  })

  test.each([
    ['maxPlayers', { player: ann, maxPlayers: 0 }],
    ['maxPlayers', { player: ann, maxPlayers: 65 }],
    ['player.ip', { player: { id: 'ann', ip: '999' }, maxPlayers: 2 }],
    ['password', { player: ann, maxPlayers: 2, password: '' }],
    ['approval', { player: ann, maxPlayers: 2, password: 'x', approval: true }],
    ['data.a b', { player: ann, maxPlayers: 2, data: { 'a b': 1 } }],
    ['data.__proto__x', { player: ann, maxPlayers: 2, data: JSON.parse('{"__proto__x":1}') as never }],
    ['data.map', { player: ann, maxPlayers: 2, data: { map: 'x'.repeat(257) } }],
  ])('a lobby cannot be created with a wrong %s: %j', async (field, input) => {
    const error = await failing(setUp().lobbies.create(input))
    expect(error).toBeInstanceOf(InvalidInput)
    expect((error as InvalidInput).field).toBe(field)
  })
})

describe('several processes with one store', () => {
  /** Opens two processes that share a store and a service. */
  async function two() {
    const store = createMemoryLobbyStore()
    const first = await withThree({ store })
    const relay = createRelaySessions({ client: first.service, clock: first.clock })
    const second = createLobbies({ relay, store, clock: first.clock })
    return { ...first, second, secondRelay: relay }
  }

  test('several processes with one store share lobbies, and one of them opens the session', async () => {
    const { clock, second, lobbies, lobbyId, code, service, start } = await two()
    await second.join({ player: player('dora'), code })
    await start()
    expect(service.opened).toBe(1)
    expect((await second.get({ lobbyId, playerId: 'dora' })).run).toMatchObject({ status: 'relayed' })
    await second.leave({ lobbyId, playerId: 'dora' })
    await clock.advance(5000)
    expect((await lobbies.get({ lobbyId, playerId: 'ann' })).members).toHaveLength(3)
    await second.transferHost({ lobbyId, playerId: 'ann', targetId: 'bob' })
    await clock.advance(5000)
    expect(service.opened).toBe(2)
    expect(service.open).toHaveLength(1)
  })

  test('a process hands over its lobbies when it closes', async () => {
    const { clock, second, lobbies, relay, lobbyId, service, within } = await two()
    await lobbies.start({ lobbyId, playerId: 'ann' })
    await clock.advance(100)
    await within(lobbies.close({ keepLobbies: true }))
    await within(relay.close())
    await clock.advance(10_000)
    expect((await second.get({ lobbyId, playerId: 'ann' })).run).toMatchObject({ status: 'relayed' })
    expect(service.open).toHaveLength(1)
  })
})

describe('closing the lobbies of a process', () => {
  test('closing a process with its lobbies ends every lobby and leaves nothing behind at any moment', async () => {
    const { clock, lobbies, lobbyId, code, start, tearDown } = await withThree({
      service: { faults: [{ operation: 'delete', fault: 'request lost', times: 2 }] },
    })
    await start()
    const other = await lobbies.create({ player: ann, maxPlayers: 2 })
    await lobbies.start({ lobbyId: other.lobbyId, playerId: 'ann' })
    await clock.advance(100)
    const next = lobbies.follow({ lobbyId, playerId: 'bob', after: 0 })
    expect(await tearDown()).toEqual([])
    expect(await failing(lobbies.join({ player: bob, code }))).toBeInstanceOf(RelayClosed)
    expect(await failing(lobbies.create({ player: bob, maxPlayers: 2 }))).toBeInstanceOf(RelayClosed)
    expect(await failing(next.next())).toBeInstanceOf(Error)
    await clock.advance(60_000)
    expect(clock.sleepers).toBe(0)
  })

  test('closing a process reports relay sessions that the service did not delete', async () => {
    const { lobbies, within, start } = await withThree({
      service: { faults: [{ operation: 'delete', fault: 'request lost' }] },
    })
    await start()
    const error = await within(failing(lobbies.close({ timeoutMs: 5000 })))
    expect(error).toBeInstanceOf(RelayNotDeleted)
    expect((error as RelayNotDeleted).sessionIds).toEqual(['session-1'])
  })

  test('an empty lobby ends with its session and is removed later, without closing', async () => {
    const store = createMemoryLobbyStore()
    const { clock, service, start } = await withThree({ store })
    await start()
    expect(service.open).toHaveLength(1)
    await clock.advance(35_000)
    expect(service.open).toEqual([])
    await clock.advance(60_000)
    expect(await store.ids()).toHaveLength(1)
    await clock.advance(35_000)
    expect(await store.ids()).toEqual([])
  })
})

test('relay sessions of a lobby that no longer exists are found and deleted', async () => {
  const { clock, service, lobbies, relay, within, lobbyId, start } = await withThree()
  await start()
  const lost = await within(relay.open({ players: [ann], label: `${'x'.repeat(22)}-1` }))
  const own = await within(relay.open({ players: [ann], label: 'mine' }))
  relay.release(lost.id)
  relay.release(own.id)
  expect(service.open).toHaveLength(3)
  await lobbies.reapOrphans()
  await clock.advance(119_000)
  for (const playerId of ['ann', 'bob', 'cleo']) await failing(lobbies.heartbeat({ lobbyId, playerId }))
  await clock.advance(1000)
  expect(await lobbies.reapOrphans()).toEqual({ deleted: [lost.id], left: [] })
  expect(service.open).toContain(own.id)
})

test.each([
  ['setReady', { ready: 'yes' }, 'ready'],
  ['setData', { changes: { map: {} } }, 'changes.map'],
  ['setData', { changes: {}, ifVersion: 0 }, 'ifVersion'],
  ['setMemberData', { changes: { 'a b': 1 } }, 'changes.a b'],
  ['kick', { targetId: 'x'.repeat(129), ban: true }, 'targetId'],
  ['transferHost', {}, 'targetId'],
  ['decide', { applicantId: 'bob' }, 'approve'],
  ['poll', { waitMs: Number.NaN }, 'waitMs'],
  ['poll', { after: -1, waitMs: 0 }, 'after'],
] as const)('the lobby command %s refuses the input %j by its field', async (method, input, field) => {
  const { lobbies, lobbyId } = await withThree()
  const ask = lobbies[method] as (input: object) => Promise<unknown>
  const error = await failing((async () => ask({ lobbyId, playerId: 'ann', ...input }))())
  expect(error).toBeInstanceOf(InvalidInput)
  expect((error as InvalidInput).field).toBe(field)
})

test.each([
  [{}, 'relay'],
  [{ relay: {} as never }, 'relay'],
  [{ store: {} as never }, 'store'],
  [{ rules: { idleMs: -1 } }, 'rules.idleMs'],
  [{ rules: { idlems: 1 } as never }, 'rules.idlems'],
  [{ limits: { joinsOverall: { limit: 0, windowMs: 1 } } }, 'limits.joinsOverall.limit'],
])('createLobbies refuses a wrong option by name: %j', (options, field) => {
  const { relay } = setUp()
  const given = field === 'relay' ? options : { relay, ...options }
  expect(() => createLobbies(given)).toThrow(expect.objectContaining({ name: 'InvalidInput', field }))
})

test('a lobby that cannot be read does not delay what is due in other lobbies', async () => {
  const store = createMemoryLobbyStore()
  let damaged = ''
  const get = async (id: string) => {
    if (id === damaged) throw new Error('the record is damaged')
    return store.get(id)
  }
  const { clock, lobbies } = setUp({ store: { ...store, get }, tickMs: 1_000_000 })
  for (let number = 0; number < 50; number += 1) {
    const { lobbyId } = await lobbies.create({ player: player(`p${number}`), maxPlayers: 4 })
    damaged ||= lobbyId
    await clock.advance(1)
  }
  await clock.advance(30_000)
  expect(await store.due(clock.now(), 100)).toHaveLength(50)
  expect(await failing(lobbies.tick())).toMatchObject({ message: 'the record is damaged' })
  expect(await store.due(clock.now(), 100)).toEqual([damaged])
})

test('a tick or work of lobbies that fails while the store is down is a problem, and is repeated', async () => {
  const store = createMemoryLobbyStore()
  let isDown = false
  const whileUp = <Input extends unknown[], Result>(call: (...input: Input) => Promise<Result>) => {
    return async (...input: Input) => {
      if (isDown) throw new Error('the store does not answer')
      return call(...input)
    }
  }
  const { clock, lobbies, service } = setUp({ store: { ...store, due: whileUp(store.due), get: whileUp(store.get) } })
  const problems = new Set<string>()
  lobbies.events.on('problem', ({ during, error }) => problems.add(`${during}: ${String(error)}`))
  const { lobbyId } = await lobbies.create({ player: ann, maxPlayers: 4, requireReady: false })
  await lobbies.start({ lobbyId, playerId: 'ann' })
  isDown = true
  await clock.advance(5000)
  expect([...problems].toSorted()).toEqual(
    ['tick', 'work'].map((during) => `${during}: Error: the store does not answer`),
  )
  isDown = false
  await clock.advance(10_000)
  expect(await lobbies.get({ lobbyId, playerId: 'ann' })).toMatchObject({ phase: 'running' })
  expect(service.open).toHaveLength(1)
})

describe('a process that could not receive requests for 150 s', () => {
  /** @param suspended whether the process is suspended, or ends and another one starts */
  const after = async (suspended: boolean) => {
    const manual = createManualClock()
    let aheadMs = 0
    const clock = { now: () => manual.now() + aheadMs, sleep: manual.sleep }
    const service = createFakeService({ clock, random: seededRandom(1) })
    const relay = createRelaySessions({ client: service, clock })
    const store = createMemoryLobbyStore()
    const begin = () => createLobbies({ relay, clock, store })
    let lobbies = begin()
    const { lobbyId, code } = await lobbies.create({ player: ann, maxPlayers: 4, requireReady: false })
    await lobbies.join({ player: bob, code })
    await lobbies.start({ lobbyId, playerId: 'ann' })
    await manual.advance(5000)
    if (!suspended) await lobbies.close({ keepLobbies: true })
    aheadMs = 150_000
    if (!suspended) lobbies = begin()
    const beat = (playerId: string) => lobbies.heartbeat({ lobbyId, playerId })
    const members = async () => (await lobbies.get({ lobbyId, playerId: 'ann' })).members.map(({ present }) => !present)
    return { manual, lobbies, service, lobbyId, beat, members }
  }

  test.each([
    [true, 'tick'],
    [true, 'heartbeat'],
    [false, 'tick'],
    [false, 'heartbeat'],
  ])('suspended: %j, first a %s: members are present, and the relay session goes on', async (suspended, first) => {
    const { manual, service, beat, members } = await after(suspended)
    if (first === 'tick') await manual.advance(1000)
    for (const playerId of ['ann', 'bob']) await beat(playerId)
    await manual.advance(5000)
    expect(await members()).toEqual([false, false])
    expect(service.open).toEqual(['session-1'])
  })

  test('members are away after 30 s although the clock was ahead until the time of a store was known', async () => {
    const manual = createManualClock()
    let aheadMs = 3_600_000
    const clock = { now: () => manual.now() + aheadMs, sleep: manual.sleep }
    const relay = createRelaySessions({ client: createFakeService({ clock, random: seededRandom(1) }), clock })
    const lobbies = createLobbies({ relay, clock })
    aheadMs = 0
    const { lobbyId } = await lobbies.create({ player: ann, maxPlayers: 4 })
    await manual.advance(32_000)
    expect(codeOf(await failing(lobbies.heartbeat({ lobbyId, playerId: 'ann' })))).toBe('away')
  })

  test('members who stay silent for 30 s afterwards are away', async () => {
    const { manual, beat, members } = await after(true)
    await manual.advance(20_000)
    await beat('ann')
    await manual.advance(12_000)
    expect(await members()).toEqual([false, true])
  })
})
