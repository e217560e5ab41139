import { InvalidInput } from '@muster/core'
import { describe, expect, test } from 'vitest'
import { LobbyRefused, RelayClosed, RelayNotDeleted } from '../errors.js'
import { createRelaySessions } from '../sessions/sessions.js'
import { CODE_ALPHABET } from './code.js'
import { createLobbies } from './create-lobbies.js'
import type { LobbyMessage } from './lobbies.js'
import { credentialsOf, failing, player, setUp } from './lobbies.fixture.js'
import type { HandedOver } from './matchmaker.js'
import { createMemoryLobbyStore } from './memory-store.js'

const ann = player('ann')
const bob = player('bob', '::ffff:192.0.2.1')
const cleo = player('cleo', '198.51.100.7')

const codeOf = (error: unknown) => (error instanceof LobbyRefused ? error.code : error)

async function withThree(options: Parameters<typeof setUp>[0] = {}, more: object = {}) {
  const all = setUp(options)
  const { lobbyId, code } = await all.lobbies.create({ player: ann, maxPlayers: 4, requireReady: false, ...more })
  await all.lobbies.join({ player: bob, code })
  await all.lobbies.join({ player: cleo, code })
  const start = async () => {
    await all.lobbies.start({ lobbyId, playerId: 'ann' })
    await all.clock.advance(2000)
  }
  return { ...all, lobbyId, code, start, credentials: (playerId: string) => credentialsOf(all.lobbies, lobbyId, playerId) }
}

describe('codes', () => {
  test('have 8 letters, 10 in private lobbies, of 20 that are not mistaken', async () => {
    const { lobbies } = setUp()
    const { code } = await lobbies.create({ player: ann, maxPlayers: 2 })
    const hidden = await lobbies.create({ player: ann, maxPlayers: 2, visibility: 'private' })
    expect(new Set(CODE_ALPHABET).size).toBe(20)
    expect(code).toMatch(/^[B-DF-HJ-NP-TV-XZ]{8}$/)
    expect(hidden.code).toMatch(/^[B-DF-HJ-NP-TV-XZ]{10}$/)
  })

  test('are read as people type them', async () => {
    const { lobbies } = setUp()
    const { code } = await lobbies.create({ player: ann, maxPlayers: 2 })
    const typed = ` ${code.slice(0, 4).toLowerCase()}-${code.slice(4)} `
    expect(await lobbies.join({ player: bob, code: typed })).toMatchObject({ status: 'joined', lobby: { code } })
  })

  test('one that is taken is drawn again', async () => {
    let draws = 0
    // The same code twice, and different ids.
    const randomInt = (max: number) => (max === 20 ? (draws++ < 16 ? 3 : 5) : draws % max)
    const { lobbies } = setUp({ randomInt })
    const first = await lobbies.create({ player: ann, maxPlayers: 2 })
    draws += 1
    const second = await lobbies.create({ player: bob, maxPlayers: 2 })
    expect(first.code).not.toBe(second.code)
  })

  test('wrong, full, private, closed to one or not one at all: the refusal is the same', async () => {
    const { lobbies } = setUp({ limits: { joinsPerPlayer: null, joinsPerAddress: null } })
    const full = await lobbies.create({ player: ann, maxPlayers: 1 })
    const hidden = await lobbies.create({ player: ann, maxPlayers: 4, visibility: 'private' })
    const guarded = await lobbies.create({ player: ann, maxPlayers: 4, password: 'sesame' })
    const banning = await lobbies.create({ player: ann, maxPlayers: 4 })
    await lobbies.kick({ lobbyId: banning.lobbyId, playerId: 'ann', targetId: 'bob', ban: true })
    const refusals = await Promise.all(
      [
        { code: 'BCDFGHJK' },
        { code: 'no code' },
        { code: full.code },
        { lobbyId: 'nobody' },
        { lobbyId: hidden.lobbyId },
        { code: guarded.code },
        { code: guarded.code, password: 'simsalabim' },
        { code: 'BCDFGHJK', password: 'sesame' },
        { code: banning.code },
      ].map((way) => failing(lobbies.join({ player: bob, ...way }))),
    )
    expect(new Set(refusals.map((error) => JSON.stringify(error))).size).toBe(1)
    expect(codeOf(refusals[0])).toBe('not-joinable')
    expect(await lobbies.join({ player: bob, code: guarded.code, password: 'sesame' })).toMatchObject({ status: 'joined' })
    expect(await lobbies.join({ player: bob, code: hidden.code })).toMatchObject({ status: 'joined' })
  })

  test('attempts that fail are limited per player, per address and overall; those that succeed are not', async () => {
    const { clock, lobbies } = setUp({ limits: { joinsPerPlayer: { limit: 3, windowMs: 60_000 }, joinsPerAddress: { limit: 5, windowMs: 60_000 }, joinsOverall: { limit: 7, windowMs: 60_000 } } })
    const { code } = await lobbies.create({ player: ann, maxPlayers: 8 })
    const guess = async (id: string, ip: string) => codeOf(await failing(lobbies.join({ player: { id, ip }, code: 'BCDFGHJK' })))
    for (let count = 0; count < 10; count += 1) await lobbies.join({ player: player('bob'), code })
    const guesses: unknown[] = []
    for (let count = 0; count < 4; count += 1) guesses.push(await guess('bob', '192.0.2.1'))
    for (let count = 0; count < 3; count += 1) guesses.push(await guess(`same-address-${count}`, '192.0.2.1'))
    for (let count = 0; count < 3; count += 1) guesses.push(await guess(`other-address-${count}`, `198.51.100.${count}`))
    const no = 'not-joinable'
    const stop = 'too-many-attempts'
    expect(guesses).toEqual([no, no, no, stop, no, no, stop, no, no, stop])
    const error = await failing(lobbies.join({ player: player('dora', '203.0.113.1'), code }))
    expect(codeOf(error)).toBe(stop)
    expect((error as LobbyRefused).retryAfterMs).toBeCloseTo(60_000 / 7, 1)
    await clock.advance(60_000 / 7)
    expect(await lobbies.join({ player: player('dora', '203.0.113.1'), code })).toMatchObject({ status: 'joined' })
  })
})

describe('a lobby', () => {
  test('is made, filled, listed, and shows nobody an address', async () => {
    const { lobbies, lobbyId, code } = await withThree({}, { data: { map: 'ice' } })
    const view = await lobbies.get({ lobbyId, playerId: 'bob' })
    expect(view).toMatchObject({ code, hostId: 'ann', phase: 'open', data: { map: 'ice' }, run: null })
    expect(view.members.map(({ playerId, slot, host }) => [playerId, slot, host])).toEqual([['ann', 0, true], ['bob', 1, false], ['cleo', 2, false]])
    expect(JSON.stringify(view)).not.toMatch(/192\.0\.2|198\.51/)
    const { lobbies: listed } = await lobbies.list({ data: { map: 'ice' } })
    expect(listed).toEqual([{ lobbyId, phase: 'open', entry: 'open', maxPlayers: 4, players: 3, data: { map: 'ice' }, createdAt: view.createdAt }])
    expect((await lobbies.list({ minFree: 2 })).lobbies).toEqual([])
    expect(codeOf(await failing(lobbies.get({ lobbyId, playerId: 'eve' })))).toBe('no-such-lobby')
  })

  test('the last slot goes to one of many who want it at once', async () => {
    const { lobbies, code } = await withThree()
    const joined = await Promise.all(Array.from({ length: 20 }, (_, index) => failing(lobbies.join({ player: player(`p${index}`, `203.0.113.${index}`), code }))))
    expect(joined.filter((one) => one === 'no error')).toHaveLength(1)
  })

  test('has a host who decides, where it says so', async () => {
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

  test('is not made too often by one player', async () => {
    const { lobbies } = setUp({ limits: { createsPerPlayer: { limit: 2, windowMs: 1000 } } })
    const make = () => failing(lobbies.create({ player: ann, maxPlayers: 2 }))
    expect([await make(), await make(), codeOf(await make())]).toEqual(['no error', 'no error', 'too-many-attempts'])
  })

  test.each([
    [{ player: ann, maxPlayers: 0 }, 'maxPlayers'],
    [{ player: ann, maxPlayers: 65 }, 'maxPlayers'],
    [{ player: { id: 'ann', ip: '999' }, maxPlayers: 2 }, 'player.ip'],
    [{ player: ann, maxPlayers: 2, password: '' }, 'password'],
    [{ player: ann, maxPlayers: 2, password: 'x', approval: true }, 'approval'],
    [{ player: ann, maxPlayers: 2, data: { 'a b': 1 } }, 'data.a b'],
    [{ player: ann, maxPlayers: 2, data: JSON.parse('{"__proto__x":1}') as never }, 'data.__proto__x'],
    [{ player: ann, maxPlayers: 2, data: { map: 'x'.repeat(257) } }, 'data.map'],
  ])('cannot be %j', async (input, field) => {
    const error = await failing(setUp().lobbies.create(input))
    expect(error).toBeInstanceOf(InvalidInput)
    expect((error as InvalidInput).field).toBe(field)
  })
})

describe('the relay', () => {
  test('is opened when the lobby starts, and everybody gets their own credentials', async () => {
    const { service, start, credentials, tearDown } = await withThree()
    expect(service.opened).toBe(0)
    await start()
    const all = [await credentials('ann'), await credentials('bob'), await credentials('cleo')]
    expect(all.map(({ role }) => role)).toEqual(['host', 'client', 'client'])
    expect(new Set(all.map(({ userToken }) => userToken)).size).toBe(3)
    for (const { sessionToken, userToken } of all) expect(service.isValid(sessionToken, userToken)).toBe(true)
    expect(await tearDown()).toEqual([])
  })

  test('lets those in who come later, and takes the tokens of those who go', async () => {
    const { clock, lobbies, lobbyId, code, service, start, credentials, tearDown } = await withThree()
    await start()
    await lobbies.join({ player: player('dora'), code })
    await clock.advance(1000)
    const dora = await credentials('dora')
    expect(service.isValid(dora.sessionToken, dora.userToken)).toBe(true)
    const cleos = await credentials('cleo')
    await lobbies.kick({ lobbyId, playerId: 'ann', targetId: 'dora' })
    await lobbies.leave({ lobbyId, playerId: 'cleo' })
    await clock.advance(1000)
    expect(service.isValid(dora.sessionToken, dora.userToken)).toBe(false)
    expect(service.isValid(cleos.sessionToken, cleos.userToken)).toBe(false)
    expect(service.opened).toBe(1)
    expect(await tearDown()).toEqual([])
  })

  test('follows the host: a new session of a higher term, and the old one deleted', async () => {
    const { clock, lobbies, lobbyId, service, start, credentials, tearDown } = await withThree()
    await start()
    const before = await credentials('ann')
    await lobbies.leave({ lobbyId, playerId: 'ann' })
    await clock.advance(100)
    expect(service.isValid(before.sessionToken, before.userToken)).toBe(false)
    await clock.advance(2000)
    expect(await lobbies.get({ lobbyId, playerId: 'bob' })).toMatchObject({ hostId: 'bob', run: { term: 2, status: 'relayed', credentials: { role: 'host' } } })
    expect((await credentials('cleo')).sessionId).not.toBe(before.sessionId)
    expect(service.open).toHaveLength(1)
    expect(await tearDown()).toEqual([])
  })

  test('when the host hands on, peers keep the old session until the new one is there', async () => {
    const { clock, lobbies, lobbyId, service, start, credentials } = await withThree()
    await start()
    const before = await credentials('ann')
    await lobbies.transferHost({ lobbyId, playerId: 'ann', targetId: 'cleo' })
    await clock.advance(600)
    expect(service.isValid(before.sessionToken, before.userToken)).toBe(true)
    await clock.advance(1000)
    expect(service.isValid(before.sessionToken, before.userToken)).toBe(false)
    expect((await credentials('cleo')).role).toBe('host')
    expect((await credentials('ann')).role).toBe('client')
  })

  test('whoever was away comes back to the same slot with a new token', async () => {
    const { clock, lobbies, lobbyId, code, service, start, credentials } = await withThree()
    await start()
    const before = await credentials('cleo')
    const beat = async (seconds: number, ...ids: string[]) => {
      for (let second = 0; second < seconds; second += 5) {
        for (const playerId of ids) await lobbies.heartbeat({ lobbyId, playerId })
        await clock.advance(5000)
      }
    }
    await beat(40, 'ann', 'bob')
    expect(service.isValid(before.sessionToken, before.userToken)).toBe(false)
    expect(codeOf(await failing(lobbies.heartbeat({ lobbyId, playerId: 'cleo' })))).toBe('away')
    await beat(60, 'ann', 'bob')
    expect(await lobbies.join({ player: cleo, code })).toMatchObject({ lobby: { members: [{}, {}, { playerId: 'cleo', slot: 2, present: true }] } })
    await clock.advance(1000)
    const after = await credentials('cleo')
    expect(after.sessionId).toBe(before.sessionId)
    expect(after.userToken).not.toBe(before.userToken)
    expect(service.isValid(after.sessionToken, after.userToken)).toBe(true)
  })

  test('a session in which a token cannot be taken back is replaced', async () => {
    const { clock, lobbies, lobbyId, service, start, credentials } = await withThree({ service: { faults: [{ operation: 'revokeUser', fault: 'not done' }] } })
    await start()
    const before = await credentials('bob')
    await lobbies.kick({ lobbyId, playerId: 'ann', targetId: 'bob' })
    await clock.advance(5000)
    expect(service.isValid(before.sessionToken, before.userToken)).toBe(false)
    expect(service.open).toHaveLength(1)
    expect((await lobbies.get({ lobbyId, playerId: 'ann' })).run).toMatchObject({ term: 2, status: 'relayed' })
  })

  test('that does not become ready opens the lobby again, which can be started again', async () => {
    const { clock, lobbies, lobbyId, service, tearDown } = await withThree({ service: { faults: [{ operation: 'create', fault: 'never ready', times: 2 }] } })
    const beats = async (seconds: number) => {
      for (let second = 0; second < seconds; second += 5) {
        for (const playerId of ['ann', 'bob', 'cleo']) await lobbies.heartbeat({ lobbyId, playerId })
        await clock.advance(5000)
      }
    }
    const failed: unknown[] = []
    lobbies.events.on('happened', (event) => event.type === 'run.failed' && failed.push(event.reason))
    await lobbies.start({ lobbyId, playerId: 'ann' })
    await beats(95)
    expect(failed).toEqual(['not ready in time'])
    expect(await lobbies.get({ lobbyId, playerId: 'ann' })).toMatchObject({ phase: 'open', run: null })
    expect(service.open).toEqual([])
    await lobbies.start({ lobbyId, playerId: 'ann' })
    await beats(5)
    expect((await lobbies.get({ lobbyId, playerId: 'ann' })).run).toMatchObject({ term: 2, status: 'relayed' })
    expect(await tearDown()).toEqual([])
  })

  test('ends when the host stops it, and is deleted until the service confirms', async () => {
    const { clock, lobbies, lobbyId, service, start } = await withThree({ service: { faults: [{ operation: 'delete', fault: 'lost before', times: 3 }] } })
    await start()
    await lobbies.stop({ lobbyId, playerId: 'ann' })
    expect(service.open).toHaveLength(1)
    await clock.advance(10_000)
    expect(service.open).toEqual([])
  })
})

describe('following', () => {
  const collect = (follower: AsyncIterable<LobbyMessage>) => {
    const messages: LobbyMessage[] = []
    const outcome = { ended: false, error: undefined as unknown }
    const run = async () => {
      for await (const message of follower) messages.push(message)
    }
    void run().then(
      () => (outcome.ended = true),
      (error: unknown) => (outcome.error = error),
    )
    return { messages, outcome, types: () => messages.map(({ type }) => type) }
  }

  test('begins with the state, goes on with events, and ends with the lobby', async () => {
    const { clock, lobbies, lobbyId, start } = await withThree()
    const bobs = collect(lobbies.follow({ lobbyId, playerId: 'bob' }))
    await clock.advance(0)
    await start()
    await lobbies.end({ lobbyId, playerId: 'ann' })
    await clock.advance(100)
    expect(bobs.types()).toEqual(['snapshot', 'lobby.starting', 'relay.ready', 'run.ended', 'lobby.closed'])
    expect(bobs.outcome.ended).toBe(true)
  })

  test('each gets their own credentials with the event, and no other’s', async () => {
    const { clock, lobbies, lobbyId, code, start, credentials } = await withThree()
    const followers = { ann: collect(lobbies.follow({ lobbyId, playerId: 'ann' })), bob: collect(lobbies.follow({ lobbyId, playerId: 'bob' })) }
    await clock.advance(0)
    await start()
    const tokens = { ann: (await credentials('ann')).userToken, bob: (await credentials('bob')).userToken }
    await lobbies.join({ player: player('dora'), code })
    const doras = collect(lobbies.follow({ lobbyId, playerId: 'dora' }))
    await clock.advance(1000)
    expect(followers.ann.messages).toContainEqual(expect.objectContaining({ type: 'relay.ready', term: 1, credentials: await credentials('ann') }))
    expect(JSON.stringify(followers.ann.messages)).not.toContain(String(tokens.bob))
    expect(JSON.stringify(followers.bob.messages)).not.toContain(String(tokens.ann))
    expect(doras.messages.at(-1)).toMatchObject({ type: 'relay.credentials', credentials: await credentials('dora') })
    expect(followers.bob.types()).not.toContain('relay.credentials')
    expect(JSON.stringify([followers, doras])).not.toMatch(/192\.0\.2|198\.51/)
  })

  test('goes on where it was broken off; whoever has missed too much gets the state', async () => {
    const { clock, lobbies, lobbyId } = await withThree()
    const { cursor } = await lobbies.get({ lobbyId, playerId: 'bob' })
    await lobbies.setReady({ lobbyId, playerId: 'bob', ready: true })
    await lobbies.setReady({ lobbyId, playerId: 'bob', ready: false })
    const again = collect(lobbies.follow({ lobbyId, playerId: 'bob', after: cursor + 1 }))
    await clock.advance(0)
    expect(again.messages).toMatchObject([{ type: 'member.ready', seq: cursor + 2, ready: false }])
    for (let count = 0; count < 80; count += 1) await lobbies.setReady({ lobbyId, playerId: 'cleo', ready: count % 2 === 0 })
    const late = collect(lobbies.follow({ lobbyId, playerId: 'bob', after: cursor }))
    const ahead = collect(lobbies.follow({ lobbyId, playerId: 'bob', after: 100_000 }))
    await clock.advance(0)
    expect(late.types()).toEqual(['snapshot'])
    expect(ahead.types()).toEqual(['snapshot'])
  })

  test('is a sign of life', async () => {
    const { clock, lobbies, lobbyId } = await withThree()
    const leaving = new AbortController()
    const bobs = collect(lobbies.follow({ lobbyId, playerId: 'bob', signal: leaving.signal }))
    await clock.advance(120_000)
    expect((await lobbies.get({ lobbyId, playerId: 'bob' })).members.map(({ present }) => present)).toEqual([false, true, false])
    leaving.abort(new Error('gone'))
    await clock.advance(60_000)
    expect(bobs.outcome.error).toEqual(new Error('gone'))
    expect((await lobbies.get({ lobbyId, playerId: 'bob' })).members.at(-1)?.present).toBe(false)
  })

  test('whoever is taken out is told, and nothing after it', async () => {
    const { clock, lobbies, lobbyId } = await withThree()
    const bobs = collect(lobbies.follow({ lobbyId, playerId: 'bob' }))
    await clock.advance(0)
    await lobbies.kick({ lobbyId, playerId: 'ann', targetId: 'bob' })
    await lobbies.setData({ lobbyId, playerId: 'ann', changes: { map: 'ice' } })
    await clock.advance(0)
    expect(bobs.messages.slice(1)).toMatchObject([{ type: 'you.left', reason: 'kicked' }])
    expect(bobs.outcome.ended).toBe(true)
    expect(codeOf(await failing(lobbies.follow({ lobbyId, playerId: 'bob' }).next()))).toBe('no-such-lobby')
    expect(codeOf(await failing(lobbies.follow({ lobbyId, playerId: 'eve', after: 0 }).next()))).toBe('no-such-lobby')
  })

  test('by poll: at once if there is something, else when there is, or when the time is over', async () => {
    const { clock, lobbies, lobbyId } = await withThree()
    const { cursor } = await lobbies.get({ lobbyId, playerId: 'bob' })
    const began = clock.now()
    const empty = lobbies.poll({ lobbyId, playerId: 'bob', after: cursor, waitMs: 25_000 })
    await clock.advance(12_500)
    for (const playerId of ['ann', 'cleo']) await lobbies.heartbeat({ lobbyId, playerId })
    await clock.advance(12_500)
    expect(await empty).toEqual({ messages: [], cursor, over: false })
    expect(clock.now() - began).toBe(25_000)
    const waiting = lobbies.poll({ lobbyId, playerId: 'bob', after: cursor, waitMs: 25_000 })
    await clock.advance(5000)
    await lobbies.setReady({ lobbyId, playerId: 'bob', ready: true })
    expect(await waiting).toMatchObject({ messages: [{ type: 'member.ready' }], cursor: cursor + 1 })
  })
})

describe('a lobby can end in a match', () => {
  test('whose players the matchmaker takes over, once', async () => {
    const parties: HandedOver[] = []
    const withdrawn: string[] = []
    const clockSet = setUp()
    const { clock } = clockSet
    const lobbies = createLobbies({
      clock,
      matchmaker: {
        handOver: async (party) => {
          await clock.sleep(1000)
          parties.push(party)
          return { reference: `ticket-${parties.length}` }
        },
        withdraw: async (reference) => void withdrawn.push(reference),
      },
    })
    const { lobbyId, code } = await lobbies.create({ player: ann, maxPlayers: 4, requireReady: false, data: { mode: 'duel' } })
    await lobbies.join({ player: bob, code, memberData: { rank: 3 } })
    await lobbies.join({ player: cleo, code })
    await lobbies.start({ lobbyId, playerId: 'ann' })
    await clock.advance(500)
    await lobbies.leave({ lobbyId, playerId: 'ann' })
    await clock.advance(3000)
    expect(parties).toEqual([
      { key: `${lobbyId}.1`, lobbyId, data: { mode: 'duel' }, players: [{ ...ann, data: {} }, { id: 'bob', ip: '192.0.2.1', data: { rank: 3 } }, { ...cleo, data: {} }] },
      { key: `${lobbyId}.2`, lobbyId, data: { mode: 'duel' }, players: [{ id: 'bob', ip: '192.0.2.1', data: { rank: 3 } }, { ...cleo, data: {} }] },
    ])
    expect(withdrawn).toEqual(['ticket-1'])
    expect((await lobbies.get({ lobbyId, playerId: 'cleo' })).run).toEqual({ term: 2, status: 'matched', reference: 'ticket-2' })
    await lobbies.close()
    expect(withdrawn).toEqual(['ticket-1'])
    await clockSet.tearDown()
  })

  test('or in nothing, if the matchmaker refuses', async () => {
    const { clock } = setUp()
    const lobbies = createLobbies({ clock, matchmaker: { handOver: () => Promise.reject(new RangeError('no')), withdraw: async () => {} } })
    const { lobbyId } = await lobbies.create({ player: ann, maxPlayers: 4 })
    const follower = lobbies.follow({ lobbyId, playerId: 'ann', after: 0 })
    await lobbies.start({ lobbyId, playerId: 'ann' })
    await follower.next()
    expect((await follower.next()).value).toMatchObject({ type: 'run.failed', term: 1, reason: 'RangeError' })
    await lobbies.close()
  })
})

describe('several processes', () => {
  /** Two processes on one store and one service. */
  async function two() {
    const store = createMemoryLobbyStore()
    const first = await withThree({ store })
    const relay = createRelaySessions({ client: first.service, clock: first.clock })
    const second = createLobbies({ relay, store, clock: first.clock })
    return { ...first, second, secondRelay: relay }
  }

  test('see the same lobbies, and only one of them opens a session', async () => {
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

  test('one lets go of its lobbies, and the other goes on with them', async () => {
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

describe('closing', () => {
  test('ends every lobby and leaves nothing, whatever is under way', async () => {
    const { clock, lobbies, lobbyId, code, start, tearDown } = await withThree({ service: { faults: [{ operation: 'delete', fault: 'lost before', times: 2 }] } })
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

  test('says what may be left when the service does not delete it', async () => {
    const { lobbies, within, start } = await withThree({ service: { faults: [{ operation: 'delete', fault: 'lost before' }] } })
    await start()
    const error = await within(failing(lobbies.close({ timeoutMs: 5000 })))
    expect(error).toBeInstanceOf(RelayNotDeleted)
    expect((error as RelayNotDeleted).sessionIds).toEqual(['session-1'])
  })

  test('a lobby in which nobody is any more ends by itself, with its session, and is forgotten', async () => {
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

test('sessions that were opened for a lobby that is no more are found and deleted', async () => {
  const { clock, service, lobbies, relay, within, lobbyId, start } = await withThree()
  await start()
  const lost = await within(relay.open({ players: [ann], label: `${'x'.repeat(22)}.1` }))
  const own = await within(relay.open({ players: [ann], label: 'mine' }))
  relay.release(lost.id)
  relay.release(own.id)
  expect(service.open).toHaveLength(3)
  await lobbies.reapOrphans()
  await clock.advance(119_000)
  for (const playerId of ['ann', 'bob', 'cleo']) await failing(lobbies.heartbeat({ lobbyId, playerId }))
  await clock.advance(1000)
  expect(await lobbies.reapOrphans()).toEqual([lost.id])
  expect(service.open).toContain(own.id)
})

test.each([
  [{}, 'relay'],
  [{ relay: {} as never }, 'relay'],
  [{ store: {} as never }, 'store'],
  [{ rules: { idleMs: -1 } }, 'rules.idleMs'],
  [{ rules: { idlems: 1 } as never }, 'rules.idlems'],
  [{ limits: { joinsOverall: { limit: 0, windowMs: 1 } } }, 'limits.joinsOverall.limit'],
])('an option that cannot be is refused by name: %j', (options, field) => {
  const { relay } = setUp()
  const given = field === 'relay' ? options : { relay, ...options }
  expect(() => createLobbies(given)).toThrow(expect.objectContaining({ name: 'InvalidInput', field }))
})
