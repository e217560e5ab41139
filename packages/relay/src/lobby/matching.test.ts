import { StoreUnavailable } from '@muster/core'
import { createManualClock } from '@muster/core/clock'
import { expect, test } from 'vitest'
import { createLobbies } from './create-lobbies.js'
import { ann, bob, cleo, codeOf, failing } from './lobbies.fixture.js'
import type { Lobbies } from './lobbies.js'
import type { HandedOver, LobbyMatchmaker } from './lobby-options.js'
import { createMemoryLobbyStore } from './memory-store.js'

/** Opens lobbies with a matchmaker that answers after a second. */
async function setUp(changes: Partial<LobbyMatchmaker> = {}, store = createMemoryLobbyStore()) {
  const clock = createManualClock()
  const parties: HandedOver[] = []
  const withdrawn: string[] = []
  const matchmaker: LobbyMatchmaker = {
    handOver: async (party) => {
      await clock.sleep(1000)
      parties.push(party)
      return { reference: `ticket-${parties.length}` }
    },
    withdraw: async (reference) => void withdrawn.push(reference),
    ...changes,
  }
  const lobbies = createLobbies({ clock, matchmaker, store })
  const { lobbyId, code } = await lobbies.create({
    player: ann,
    maxPlayers: 4,
    requireReady: false,
    data: { mode: 'duel' },
  })
  await lobbies.join({ player: bob, code, memberData: { rank: 3 } })
  await lobbies.join({ player: cleo, code })
  const runOf = async (playerId: string) => (await lobbies.get({ lobbyId, playerId })).run
  return { clock, lobbies, lobbyId, parties, withdrawn, runOf }
}

const assignment = { server: 'match.example:31000', map: 'ice' }

async function typesOf(lobbies: Lobbies, lobbyId: string, playerId: string): Promise<readonly string[]> {
  return (await lobbies.poll({ lobbyId, playerId, after: 0, waitMs: 0 })).messages.map(({ type }) => type)
}

test('the players of a lobby become a ticket, the host first, and every member receives the assignment', async () => {
  const { clock, lobbies, lobbyId, parties, withdrawn, runOf } = await setUp()
  await lobbies.transferHost({ lobbyId, playerId: 'ann', targetId: 'bob' })
  await lobbies.start({ lobbyId, playerId: 'bob' })
  await clock.advance(1000)
  const happened: unknown[] = []
  lobbies.events.on('happened', (event) => happened.push(event))
  const key = `${lobbyId}-1`
  const players = [
    { id: 'bob', ip: '192.0.2.1', data: { rank: 3 } },
    { ...ann, data: {} },
    { ...cleo, data: {} },
  ]
  expect(parties).toEqual([{ key, lobbyId, data: { mode: 'duel' }, players }])
  expect(await runOf('cleo')).toEqual({ term: 1, status: 'handed-over', reference: 'ticket-1' })
  expect(await lobbies.matchKeys()).toEqual([key])

  expect(await lobbies.reportMatch({ key, status: 'assigned', assignment })).toBe(true)
  for (const playerId of ['ann', 'bob', 'cleo']) {
    expect(await runOf(playerId)).toEqual({ term: 1, status: 'assigned', assignment })
    const { messages } = await lobbies.poll({ lobbyId, playerId, after: 0, waitMs: 0 })
    expect(messages.slice(-3)).toMatchObject([
      { type: 'lobby.starting' },
      { type: 'match.handed-over', reference: 'ticket-1' },
      { type: 'match.assigned', term: 1, assignment },
    ])
  }
  // Events for metrics and logs must not contain it.
  expect(JSON.stringify(happened)).not.toContain('match.example')
  expect(await lobbies.reportMatch({ key, status: 'ended', reason: 'over' })).toBe(true)
  expect(await runOf('ann')).toBeNull()
  expect(JSON.stringify(await lobbies.poll({ lobbyId, playerId: 'ann', after: 0, waitMs: 0 }))).not.toContain(
    'match.example',
  )
  await lobbies.close()
  expect(withdrawn).toEqual([])
})

test('a lobby that is stopped just after its assignment, which it has not heard of, takes the match', async () => {
  let withdraw = () => {}
  const { clock, lobbies, lobbyId, runOf } = await setUp({
    withdraw: () => new Promise((resolve) => (withdraw = resolve)),
  })
  await lobbies.start({ lobbyId, playerId: 'ann' })
  await clock.advance(1000)
  const key = `${lobbyId}-1`
  await lobbies.stop({ lobbyId, playerId: 'ann' })
  await clock.advance(1)
  expect(await lobbies.reportMatch({ key, status: 'assigned', assignment })).toBe(true)
  withdraw()
  await clock.advance(1)
  expect(await runOf('bob')).toEqual({ term: 1, status: 'assigned', assignment })
  expect(await typesOf(lobbies, lobbyId, 'bob')).toContain('match.assigned')
  expect(await lobbies.reportMatch({ key, status: 'ended', reason: 'over' })).toBe(true)
  expect(await runOf('bob')).toBeNull()
  // The match is over, so a late report does not bring it back.
  expect(await lobbies.reportMatch({ key, status: 'assigned', assignment })).toBe(false)
  await lobbies.close()
})

test('a lobby member who leaves during the search cancels the ticket, and the host can start again', async () => {
  const { clock, lobbies, lobbyId, parties, withdrawn, runOf } = await setUp()
  await lobbies.start({ lobbyId, playerId: 'ann' })
  await clock.advance(500)
  await lobbies.leave({ lobbyId, playerId: 'ann' }) // while they are handed over
  await clock.advance(1000)
  expect(withdrawn).toEqual(['ticket-1'])
  await lobbies.start({ lobbyId, playerId: 'bob' })
  await clock.advance(1500)
  expect(parties.map(({ players }) => players.map(({ id }) => id))).toEqual([
    ['ann', 'bob', 'cleo'],
    ['bob', 'cleo'],
  ])
  expect(await runOf('bob')).toMatchObject({ term: 2, reference: 'ticket-2' })
  expect(await lobbies.reportMatch({ key: `${lobbyId}-1`, status: 'assigned', assignment })).toBe(false)
  await lobbies.leave({ lobbyId, playerId: 'cleo' }) // while they wait
  await clock.advance(1)
  expect(withdrawn).toEqual(['ticket-1', 'ticket-2'])
  expect(await runOf('bob')).toBeNull()
  await lobbies.close()
})

test('players of a lobby get a new ticket only after their old ticket is withdrawn', async () => {
  const done: string[] = []
  const { clock, lobbies, lobbyId, runOf } = await setUp({
    handOver: async ({ key }) => {
      done.push(`handed over ${key.at(-1)}`)
      return { reference: key }
    },
    withdraw: async (key) => {
      await clock.sleep(2000)
      done.push(`withdrawn ${key.at(-1)}`)
    },
  })
  for (let times = 0; times < 2; times += 1) {
    await lobbies.start({ lobbyId, playerId: 'ann' })
    await clock.advance(100)
    if (times === 0) await lobbies.stop({ lobbyId, playerId: 'ann' })
  }
  await clock.advance(5000)
  expect(done).toEqual(['handed over 1', 'withdrawn 1', 'handed over 2'])
  expect(await runOf('ann')).toMatchObject({ term: 2, status: 'handed-over' })
  const closed = lobbies.close()
  await clock.advance(2000)
  await closed
})

test('a failed withdrawal of a lobby ticket is retried', async () => {
  const failures = { left: 3 }
  const asked: string[] = []
  const { clock, lobbies, lobbyId } = await setUp({
    withdraw: async (reference) => {
      asked.push(reference)
      failures.left -= 1
      if (failures.left >= 0) throw new Error('not now')
    },
  })
  await lobbies.start({ lobbyId, playerId: 'ann' })
  await clock.advance(1000)
  await lobbies.stop({ lobbyId, playerId: 'ann' })
  await clock.advance(10_000)
  expect(asked).toEqual(Array.from({ length: 4 }, () => 'ticket-1'))
  await lobbies.close()
})

test('closing withdraws unassigned lobby tickets, including one that is being created', async () => {
  const { clock, lobbies, lobbyId, withdrawn } = await setUp()
  await lobbies.start({ lobbyId, playerId: 'ann' })
  await clock.advance(1000)
  const other = await lobbies.create({ player: ann, maxPlayers: 1 })
  await lobbies.start({ lobbyId: other.lobbyId, playerId: 'ann' })
  await clock.advance(500)
  const closed = lobbies.close()
  await clock.advance(1000)
  await closed
  expect(withdrawn.toSorted()).toEqual(['ticket-1', 'ticket-2'])
})

test('a lobby reopens if the matchmaker refuses or gives up', async () => {
  const refusing = await setUp({ handOver: () => Promise.reject(new RangeError('no')) })
  await refusing.lobbies.start({ lobbyId: refusing.lobbyId, playerId: 'ann' })
  await refusing.clock.advance(0)
  const { messages } = await refusing.lobbies.poll({ lobbyId: refusing.lobbyId, playerId: 'bob', after: 0, waitMs: 0 })
  expect(messages.at(-1)).toMatchObject({ type: 'run.failed', term: 1, reason: 'RangeError' })
  await refusing.lobbies.close()

  const { clock, lobbies, lobbyId, runOf } = await setUp()
  await lobbies.start({ lobbyId, playerId: 'ann' })
  await clock.advance(1000)
  expect(await lobbies.reportMatch({ key: `${lobbyId}-1`, status: 'ended', reason: 'expired' })).toBe(true)
  expect((await typesOf(lobbies, lobbyId, 'cleo')).at(-1)).toBe('run.failed')
  expect(await runOf('cleo')).toBeNull()
  await lobbies.close()
})

test('match reports about unknown lobbies have no effect, and invalid reports are refused by name', async () => {
  const { lobbies, lobbyId } = await setUp()
  for (const key of [`${'x'.repeat(22)}-1`, `${lobbyId}-7`, 'mine', '']) {
    expect(await lobbies.reportMatch({ key, status: 'assigned', assignment })).toBe(false)
  }
  const error = await failing(
    lobbies.reportMatch({ key: `${lobbyId}-1`, status: 'assigned', assignment: { server: { port: 1 } as never } }),
  )
  expect(error).toMatchObject({ name: 'InvalidInput', field: 'assignment.server' })
  expect(codeOf(error)).toBe(error)
  await lobbies.close()
})

test('a damaged record hides no other started lobby, but a store that does not answer is not empty', async () => {
  const memory = createMemoryLobbyStore()
  const failures = new Map<string, Error>()
  const get = async (id: string) => {
    const failure = failures.get(id)
    if (failure !== undefined) throw failure
    return memory.get(id)
  }
  const { clock, lobbies, lobbyId } = await setUp({}, { ...memory, get })
  const problems: unknown[] = []
  lobbies.events.on('problem', ({ error }) => problems.push(error))
  const other = await lobbies.create({ player: ann, maxPlayers: 1 })
  for (const id of [lobbyId, other.lobbyId]) await lobbies.start({ lobbyId: id, playerId: 'ann' })
  await clock.advance(1000)
  const damage = new SyntaxError('Unexpected end of JSON input')
  failures.set(lobbyId, damage)
  expect(await lobbies.matchKeys()).toEqual([`${other.lobbyId}-1`])
  expect(problems).toEqual([damage])
  failures.set(lobbyId, new StoreUnavailable('the store does not answer'))
  expect(await failing(lobbies.matchKeys())).toBeInstanceOf(StoreUnavailable)
  failures.clear()
  await lobbies.close()
})
