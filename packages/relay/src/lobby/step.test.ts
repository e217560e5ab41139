import { describe, expect, test } from 'vitest'
import { isOver } from './expiry.js'
import { sessionOf } from './lobby.js'
import { aLobby, aSession, ipOf, join, play, types } from './lobby.fixture.js'
import { defaultRules } from './rules.js'
import { endable, workOf } from './run.js'
import { viewOf } from './view.js'

const withThree = (...changes: Parameters<typeof aLobby>) => {
  const game = play(aLobby(...changes))
  for (const playerId of ['bob', 'cleo']) {
    game.now += 1000
    game.do(join(playerId))
  }
  return game
}
const running = () => {
  const game = withThree()
  game.do({ kind: 'start', playerId: 'ann' })
  game.open()
  return game
}
const seated = (game: ReturnType<typeof play>) => sessionOf(game.lobby)?.seats.map(({ id }) => id)

describe('coming in', () => {
  test('takes the lowest free slot, until there is none', () => {
    const game = play(aLobby({ maxPlayers: 3 }))
    expect(types(game.do(join('bob')))).toEqual(['member.joined'])
    game.do(join('cleo'))
    expect(game.do(join('dora'))).toBe('not-joinable')
    game.do({ kind: 'kick', playerId: 'ann', targetId: 'bob', ban: false })
    game.do(join('dora'))
    expect(game.lobby.members.map(({ id, slot }) => [id, slot])).toEqual([['ann', 0], ['dora', 1], ['cleo', 2]])
  })

  test('again changes nothing but the sign of life', () => {
    const game = withThree()
    const before = game.lobby.members.length
    expect(game.do(join('bob'))).toEqual([])
    expect(game.lobby.members).toHaveLength(before)
  })

  test('a private lobby is found by its code alone', () => {
    const game = play(aLobby({ visibility: 'private' }))
    expect(game.do(join('bob', { by: 'id' }))).toBe('not-joinable')
    expect(types(game.do(join('bob')))).toEqual(['member.joined'])
    expect(game.do(join('bob', { by: 'id' }))).toEqual([])
  })

  test('a password must be right', () => {
    const game = play(aLobby({ entry: { kind: 'password', salt: 's', digest: 'right' } }))
    expect(game.do(join('bob'))).toBe('not-joinable')
    expect(game.do(join('bob', { digest: 'wrong' }))).toBe('not-joinable')
    expect(types(game.do(join('bob', { digest: 'right' })))).toEqual(['member.joined'])
  })

  test('the host decides where the lobby says so', () => {
    const game = play(aLobby({ entry: { kind: 'approval' } }))
    expect(game.do(join('bob'))).toMatchObject([{ type: 'applicant.waiting', to: 'ann' }])
    expect(game.do(join('bob'))).toEqual([])
    game.do(join('cleo'))
    expect(viewOf(game.lobby, 'ann').applicants).toEqual(['bob', 'cleo'])
    expect(types(game.do({ kind: 'decide', playerId: 'ann', applicantId: 'bob', approve: true }))).toEqual(['applicant.decided', 'member.joined'])
    expect(viewOf(game.lobby, 'bob').applicants).toEqual([])
    expect(game.do({ kind: 'decide', playerId: 'ann', applicantId: 'cleo', approve: false })).toMatchObject([{ type: 'applicant.decided', approved: false, to: 'cleo' }])
    expect(game.do(join('cleo'))).toBe('not-joinable')
    expect(game.do({ kind: 'decide', playerId: 'ann', applicantId: 'cleo', approve: true })).toBe('no-such-player')
    game.wait(defaultRules.applicantMs, 'ann')
    expect(types(game.do(join('cleo')))).toEqual(['applicant.waiting'])
    game.wait(defaultRules.applicantMs, 'ann')
    expect(game.lobby.applicants).toEqual([])
    expect(game.lobby.events.at(-1)).toMatchObject({ type: 'applicant.decided', approved: false, to: 'cleo' })
  })

  test('after the start only where that is allowed', () => {
    const closed = play(aLobby({ lateJoin: false }))
    closed.do({ kind: 'start', playerId: 'ann' })
    expect(closed.do(join('bob'))).toBe('not-joinable')
    const matched = play(aLobby({ outcome: 'match' }))
    matched.do({ kind: 'start', playerId: 'ann' })
    expect(matched.do(join('bob'))).toBe('not-joinable')
    const open = running()
    open.do(join('dora'))
    expect(workOf(open.lobby)).toMatchObject([{ kind: 'authorize', player: { id: 'dora', ip: ipOf('dora') } }])
    const seat = { id: 'dora', ip: ipOf('dora'), token: 77 }
    expect(open.do({ kind: 'authorized', sessionId: 'session-1', seat })).toMatchObject([{ type: 'relay.credentials', to: 'dora' }])
    expect(workOf(open.lobby)).toEqual([])
  })
})

describe('going', () => {
  test('whoever leaves can come back to the same slot, unless it is taken or it is too late', () => {
    const game = withThree()
    game.do({ kind: 'leave', playerId: 'bob' })
    game.do({ kind: 'leave', playerId: 'cleo' })
    game.do(join('cleo'))
    expect(game.lobby.members.at(-1)).toMatchObject({ id: 'cleo', slot: 2 })
    game.do(join('dora'))
    game.do(join('bob'))
    expect(game.lobby.members.map(({ id, slot }) => [id, slot])).toEqual([['ann', 0], ['dora', 1], ['cleo', 2], ['bob', 3]])
    game.do({ kind: 'leave', playerId: 'bob' })
    game.do({ kind: 'leave', playerId: 'dora' })
    game.wait(defaultRules.holdSlotMs, 'ann', 'cleo')
    game.do(join('bob'))
    expect(game.lobby.members.find(({ id }) => id === 'bob')?.slot).toBe(1)
  })

  test('whoever is silent is away after 30 s, keeps the slot for 120 s more, and is then out', () => {
    const game = play(aLobby({ maxPlayers: 2 }))
    game.do(join('bob'))
    game.wait(29_000, 'ann')
    expect(game.lobby.members[1]?.awaySince).toBeUndefined()
    game.wait(1000, 'ann')
    expect(game.lobby.events.at(-1)).toMatchObject({ type: 'member.away', playerId: 'bob' })
    expect(game.do({ kind: 'setReady', playerId: 'bob', ready: true })).toBe('away')
    expect(game.do(join('cleo'))).toBe('not-joinable')
    game.wait(119_000, 'ann')
    expect(types(game.do(join('bob')))).toEqual(['member.back'])
    game.wait(150_000, 'ann')
    expect(types(game.lobby.events.slice(-2))).toEqual(['you.left', 'member.left'])
    expect(types(game.do(join('cleo')))).toEqual(['member.joined'])
  })

  test('time that nobody has ticked counts all the same', () => {
    const game = withThree()
    game.now += 30_000
    expect(game.do({ kind: 'setReady', playerId: 'bob', ready: true })).toBe('away')
    game.now += defaultRules.maxLifetimeMs
    expect(game.do(join('dora'))).toBe('not-joinable')
  })

  test('the banned do not come back until they are let', () => {
    const game = withThree()
    expect(types(game.do({ kind: 'kick', playerId: 'ann', targetId: 'bob', ban: true }))).toEqual(['you.left', 'member.left'])
    expect(game.do(join('bob'))).toBe('not-joinable')
    game.do({ kind: 'unban', playerId: 'ann', targetId: 'bob' })
    expect(types(game.do(join('bob')))).toEqual(['member.joined'])
  })
})

describe('the host', () => {
  test('is followed by whoever has been present for longest', () => {
    const game = withThree()
    game.wait(30_000, 'ann', 'cleo') // bob is away
    game.do(join('bob'))
    expect(types(game.do({ kind: 'leave', playerId: 'ann' }))).toEqual(['you.left', 'member.left', 'host.changed'])
    expect(game.lobby.hostId).toBe('cleo')
  })

  test('can be handed on, to somebody who is there', () => {
    const game = withThree()
    expect(game.do({ kind: 'transferHost', playerId: 'bob', targetId: 'cleo' })).toBe('not-host')
    expect(game.do({ kind: 'transferHost', playerId: 'ann', targetId: 'eve' })).toBe('no-such-player')
    expect(game.do({ kind: 'transferHost', playerId: 'ann', targetId: 'ann' })).toBe('own-player')
    expect(game.do({ kind: 'transferHost', playerId: 'ann', targetId: 'cleo' })).toMatchObject([{ type: 'host.changed', hostId: 'cleo' }])
  })

  test.each(['start', 'stop', 'close'] as const)('alone may %s', (kind) => {
    expect(withThree().do({ kind, playerId: 'bob' })).toBe('not-host')
    expect(withThree().do({ kind, playerId: 'eve' })).toBe('no-such-lobby')
  })
})

describe('data', () => {
  test('is changed only by who has seen the last version', () => {
    const game = withThree()
    expect(game.do({ kind: 'setData', playerId: 'ann', changes: { map: 'desert', fog: true }, ifVersion: 1 })).toMatchObject([{ version: 2 }])
    expect(game.do({ kind: 'setData', playerId: 'ann', changes: { map: 'ice' }, ifVersion: 1 })).toBe('stale-version')
    game.do({ kind: 'setData', playerId: 'ann', changes: { fog: null }, ifVersion: undefined })
    expect(game.lobby).toMatchObject({ data: { map: 'desert' }, dataVersion: 3 })
    expect(game.do({ kind: 'setMemberData', playerId: 'bob', changes: { hat: 'red' }, ifVersion: 2 })).toBe('stale-version')
    expect(game.do({ kind: 'setMemberData', playerId: 'bob', changes: { hat: 'red' }, ifVersion: 1 })).toMatchObject([{ type: 'member.data', version: 2 }])
    expect(game.do({ kind: 'setData', playerId: 'bob', changes: {}, ifVersion: undefined })).toBe('not-host')
  })

  test('is bounded', () => {
    const many = Object.fromEntries(Array.from({ length: 33 }, (_, index) => [`key${index}`, 1]))
    expect(withThree().do({ kind: 'setData', playerId: 'ann', changes: many, ifVersion: undefined })).toBe('data-too-large')
  })
})

describe('the run', () => {
  test('starts when all are ready, where that is asked', () => {
    const game = withThree({ requireReady: true })
    game.do({ kind: 'setReady', playerId: 'bob', ready: true })
    expect(game.do({ kind: 'start', playerId: 'ann' })).toBe('not-ready')
    game.do({ kind: 'setReady', playerId: 'cleo', ready: true })
    expect(types(game.do({ kind: 'start', playerId: 'ann' }))).toEqual(['lobby.starting'])
    expect(game.do({ kind: 'start', playerId: 'ann' })).toBe('already-started')
  })

  test('is opened once: whatever else was opened is ended', () => {
    const game = withThree()
    game.do({ kind: 'start', playerId: 'ann' })
    game.do({ kind: 'claim', worker: 'w' })
    expect(game.do({ kind: 'claim', worker: 'other' })).toBe('leased')
    game.do({ kind: 'opened', worker: 'other', term: 1, session: aSession(game.lobby, 1, 'stray') })
    const session = aSession(game.lobby, 1)
    expect(types(game.do({ kind: 'opened', worker: 'w', term: 1, session }))).toEqual(['relay.ready'])
    expect(game.do({ kind: 'opened', worker: 'w', term: 1, session })).toEqual([])
    game.do({ kind: 'opened', worker: 'w', term: 1, session: aSession(game.lobby, 1, 'late') })
    expect(endable(game.lobby)).toEqual(['stray', 'late'])
    expect(sessionOf(game.lobby)?.id).toBe('session-1')
  })

  test('can be taken over when its process is silent', () => {
    const game = withThree()
    game.do({ kind: 'start', playerId: 'ann' })
    game.do({ kind: 'claim', worker: 'w' })
    game.wait(defaultRules.leaseMs, 'ann', 'bob', 'cleo')
    game.do({ kind: 'claim', worker: 'other' })
    game.do({ kind: 'opened', worker: 'w', term: 1, session: aSession(game.lobby, 1) })
    expect(endable(game.lobby)).toEqual(['session-1'])
  })

  test('has no seat for who is gone: the token is spent, and revoked', () => {
    const game = withThree()
    game.do({ kind: 'start', playerId: 'ann' })
    const session = aSession(game.lobby, 1)
    game.do({ kind: 'leave', playerId: 'bob' })
    game.do({ kind: 'claim', worker: 'w' })
    game.do({ kind: 'opened', worker: 'w', term: 1, session })
    expect(seated(game)).toEqual(['ann', 'cleo'])
    expect(workOf(game.lobby)).toMatchObject([{ kind: 'revoke', session: { spent: [101] } }])
    game.do({ kind: 'revoked', sessionId: 'session-1', tokens: [101] })
    expect(workOf(game.lobby)).toEqual([])
  })

  test('a token that comes when its player is gone is spent', () => {
    const game = running()
    game.do(join('dora'))
    game.do({ kind: 'leave', playerId: 'dora' })
    expect(game.do({ kind: 'authorized', sessionId: 'session-1', seat: { id: 'dora', ip: ipOf('dora'), token: 77 } })).toEqual([])
    expect(sessionOf(game.lobby)?.spent).toEqual([77])
  })

  test('whoever was away, or has another address, comes back with a new token', () => {
    const game = running()
    game.do(join('bob', { ip: '198.51.100.1' }))
    expect(workOf(game.lobby)).toMatchObject([{ kind: 'revoke', session: { spent: [101] } }, { kind: 'authorize', player: { id: 'bob', ip: '198.51.100.1' } }])
    game.wait(30_000, 'ann', 'bob')
    expect(seated(game)).toEqual(['ann'])
    game.do(join('cleo'))
    expect(workOf(game.lobby).map(({ kind }) => kind)).toEqual(['revoke', 'authorize', 'authorize'])
  })

  test('when the host is gone, there is a new session at once', () => {
    const game = running()
    expect(types(game.do({ kind: 'leave', playerId: 'ann' }))).toEqual(['you.left', 'member.left', 'host.changed', 'relay.moving'])
    expect(endable(game.lobby)).toEqual(['session-1'])
    expect(types(game.open())).toEqual(['relay.ready'])
    expect(sessionOf(game.lobby)).toMatchObject({ hostId: 'bob', id: 'session-2' })
    expect(game.lobby).toMatchObject({ term: 2, phase: 'running' })
  })

  test('when the host hands on, the old session stays until the new one is there', () => {
    const game = running()
    game.do({ kind: 'transferHost', playerId: 'ann', targetId: 'bob' })
    expect(endable(game.lobby)).toEqual([])
    game.open()
    expect(endable(game.lobby)).toEqual(['session-1'])
  })

  test('but not if somebody goes who has a token of it', () => {
    const game = running()
    game.do({ kind: 'transferHost', playerId: 'ann', targetId: 'bob' })
    game.do({ kind: 'kick', playerId: 'bob', targetId: 'cleo', ban: false })
    expect(endable(game.lobby)).toEqual(['session-1'])
  })

  test('a host who changes before it is there costs no other session', () => {
    const game = withThree()
    game.do({ kind: 'start', playerId: 'ann' })
    game.do({ kind: 'leave', playerId: 'ann' })
    game.open()
    expect(sessionOf(game.lobby)).toMatchObject({ hostId: 'bob', id: 'session-1' })
  })

  test('what fails opens the lobby again', () => {
    const game = withThree()
    game.do({ kind: 'start', playerId: 'ann' })
    game.do({ kind: 'claim', worker: 'w' })
    expect(game.do({ kind: 'failed', worker: 'w', term: 1, reason: 'not ready in time' })).toMatchObject([{ type: 'run.failed', term: 1 }])
    expect(game.lobby).toMatchObject({ phase: 'open', run: undefined })
    expect(types(game.do({ kind: 'start', playerId: 'ann' }))).toEqual(['lobby.starting'])
  })

  test('a session that is lost is replaced, once', () => {
    const game = running()
    expect(types(game.do({ kind: 'lost', sessionId: 'session-1' }))).toEqual(['relay.moving'])
    expect(game.do({ kind: 'lost', sessionId: 'session-1' })).toEqual([])
    expect(endable(game.lobby)).toEqual(['session-1'])
  })

  test('stops, and can be started again', () => {
    const game = running()
    expect(types(game.do({ kind: 'stop', playerId: 'ann' }))).toEqual(['run.ended'])
    expect(game.do({ kind: 'stop', playerId: 'ann' })).toBe('not-started')
    game.do({ kind: 'start', playerId: 'ann' })
    expect(game.lobby.term).toBe(2)
  })

  test('a match is handed over again if somebody leaves meanwhile, and left alone once it is', () => {
    const game = withThree({ outcome: 'match' })
    game.do({ kind: 'start', playerId: 'ann' })
    game.do({ kind: 'claim', worker: 'w' })
    expect(types(game.do({ kind: 'leave', playerId: 'bob' }))).toEqual(['lobby.starting', 'you.left', 'member.left'])
    game.do({ kind: 'handedOver', worker: 'w', term: 1, reference: 'ticket-1' })
    expect(endable(game.lobby)).toEqual(['ticket-1'])
    game.do({ kind: 'ended', retiredId: 'ticket-1' })
    expect(game.do({ kind: 'handedOver', worker: 'w', term: 2, reference: 'ticket-2' })).toMatchObject([{ type: 'match.handed-over', reference: 'ticket-2' }])
    game.do({ kind: 'close', playerId: 'ann' })
    expect(endable(game.lobby)).toEqual([])
  })
})

describe('the end', () => {
  test.each([
    ['empty', 90_000, []],
    ['idle', 600_000, ['ann', 'bob', 'cleo']],
  ] as const)('comes to a lobby that is %s', (reason, ms, alive) => {
    const game = withThree()
    game.wait(ms - 1000, ...alive)
    expect(game.lobby.phase).toBe('open')
    game.wait(2000, ...alive)
    expect(game.lobby.events.at(-1)).toMatchObject({ type: 'lobby.closed', reason })
  })

  test('a running lobby is not idle, but ends after 4 hours', () => {
    const game = running()
    game.wait(defaultRules.maxLifetimeMs - 2000 - 1000, 'ann', 'bob')
    expect(game.lobby.phase).toBe('running')
    game.wait(1000, 'ann', 'bob')
    expect(game.lobby.events.at(-1)).toMatchObject({ type: 'lobby.closed', reason: 'too old' })
  })

  test('a closed lobby takes no commands, ends its session, and lasts until that is done and told', () => {
    const game = running()
    expect(types(game.do({ kind: 'close', playerId: 'ann' }))).toEqual(['run.ended', 'lobby.closed'])
    expect(game.do({ kind: 'setReady', playerId: 'bob', ready: true })).toBe('lobby-closed')
    expect(game.do(join('dora'))).toBe('not-joinable')
    expect(endable(game.lobby)).toEqual(['session-1'])
    expect(isOver(game.lobby, game.now + defaultRules.lingerMs, defaultRules)).toBe(false)
    game.do({ kind: 'ended', retiredId: 'session-1' })
    expect(isOver(game.lobby, game.now + defaultRules.lingerMs - 1, defaultRules)).toBe(false)
    expect(isOver(game.lobby, game.now + defaultRules.lingerMs, defaultRules)).toBe(true)
  })

  test('everybody away ends the session, and the first who comes back hosts', () => {
    const game = running()
    game.wait(40_000)
    expect(game.lobby).toMatchObject({ phase: 'open', hostId: undefined, run: undefined })
    expect(endable(game.lobby)).toEqual(['session-1'])
    expect(types(game.do(join('cleo')))).toEqual(['member.back', 'host.changed'])
  })
})

test('events that are long past are no longer kept', () => {
  const game = play(aLobby())
  for (let count = 0; count < 100; count += 1) game.do({ kind: 'setReady', playerId: 'ann', ready: count % 2 === 0 })
  expect(game.lobby.seq).toBe(100)
  expect(game.lobby.events.map(({ seq }) => seq)).toEqual(Array.from({ length: 64 }, (_, index) => 37 + index))
})
