import { describe, expect, test } from 'vitest'
import { isOver } from './step.js'
import { aLobby, ipOf, join, play, running, types, withThree } from './lobby.fixture.js'
import { defaultRules } from '../lobby-rules.js'
import { endable, workOf } from './run.js'
import { viewOf } from './view.js'

describe('joining a lobby', () => {
  test('joining a lobby takes the lowest free slot while a slot is free', () => {
    const game = play(aLobby({ maxPlayers: 3 }))
    expect(types(game.do(join('bob')))).toEqual(['member.joined'])
    game.do(join('cleo'))
    expect(game.do(join('dora'))).toBe('not-joinable')
    game.do({ kind: 'kick', playerId: 'ann', targetId: 'bob', ban: false })
    game.do(join('dora'))
    expect(game.lobby.members.map(({ id, slot }) => [id, slot])).toEqual([
      ['ann', 0],
      ['dora', 1],
      ['cleo', 2],
    ])
  })

  test('joining a lobby again counts only as a heartbeat', () => {
    const game = withThree()
    const before = game.lobby.members.length
    expect(game.do(join('bob'))).toEqual([])
    expect(game.lobby.members).toHaveLength(before)
  })

  test('joining a private lobby needs its code', () => {
    const game = play(aLobby({ visibility: 'private' }))
    expect(game.do(join('bob', { by: 'id' }))).toBe('not-joinable')
    expect(types(game.do(join('bob')))).toEqual(['member.joined'])
    expect(game.do(join('bob', { by: 'id' }))).toEqual([])
  })

  test('joining a lobby with a password needs the password', () => {
    const game = play(aLobby({ entry: { kind: 'password', salt: 's', digest: 'right' } }))
    expect(game.do(join('bob'))).toBe('not-joinable')
    expect(game.do(join('bob', { digest: 'wrong' }))).toBe('not-joinable')
    expect(types(game.do(join('bob', { digest: 'right' })))).toEqual(['member.joined'])
  })

  test('joining a lobby needs the approval of the host if the lobby requires it', () => {
    const game = play(aLobby({ entry: { kind: 'approval' } }))
    expect(game.do(join('bob'))).toMatchObject([{ type: 'applicant.waiting', to: 'ann' }])
    expect(game.do(join('bob'))).toEqual([])
    game.do(join('cleo'))
    expect(viewOf(game.lobby, 'ann').applicants).toEqual(['bob', 'cleo'])
    expect(types(game.do({ kind: 'decide', playerId: 'ann', applicantId: 'bob', approve: true }))).toEqual([
      'applicant.decided',
      'member.joined',
    ])
    expect(viewOf(game.lobby, 'bob').applicants).toEqual([])
    expect(game.do({ kind: 'decide', playerId: 'ann', applicantId: 'cleo', approve: false })).toMatchObject([
      { type: 'applicant.decided', approved: false, to: 'cleo' },
    ])
    expect(game.do(join('cleo'))).toBe('not-joinable')
    expect(game.do({ kind: 'decide', playerId: 'ann', applicantId: 'cleo', approve: true })).toBe('no-such-player')
    game.wait(defaultRules.applicantMs, 'ann')
    expect(types(game.do(join('cleo')))).toEqual(['applicant.waiting'])
    game.wait(defaultRules.applicantMs, 'ann')
    expect(game.lobby.applicants).toEqual([])
    expect(game.lobby.events.at(-1)).toMatchObject({ type: 'applicant.decided', approved: false, to: 'cleo' })
  })

  test('an approved applicant joins with the data and the address of their latest request', () => {
    const game = play(aLobby({ entry: { kind: 'approval' } }))
    game.do(join('bob', { data: { name: 'Bob' } }))
    game.do(join('bob', { data: { name: 'Bobby' }, ip: '198.51.100.9' }))
    game.do({ kind: 'decide', playerId: 'ann', applicantId: 'bob', approve: true })
    expect(game.lobby.members[1]).toMatchObject({ id: 'bob', data: { name: 'Bobby' }, ip: '198.51.100.9' })
  })

  test('a new host of a lobby is told which applicants wait, and nobody while there is no host', () => {
    const game = play(aLobby({ entry: { kind: 'approval' } }))
    for (const playerId of ['bob', 'cleo']) game.do(join(playerId))
    game.do({ kind: 'decide', playerId: 'ann', applicantId: 'bob', approve: true })
    expect(game.do({ kind: 'transferHost', playerId: 'ann', targetId: 'bob' })).toMatchObject([
      { type: 'host.changed', hostId: 'bob' },
      { type: 'applicant.waiting', playerId: 'cleo', to: 'bob' },
    ])
    game.wait(defaultRules.awayAfterMs)
    expect(types(game.do(join('dora')))).toEqual([])
    expect(game.do(join('ann'))).toMatchObject([
      { type: 'member.back', playerId: 'ann' },
      { type: 'host.changed', hostId: 'ann' },
      { type: 'applicant.waiting', playerId: 'cleo', to: 'ann' },
      { type: 'applicant.waiting', playerId: 'dora', to: 'ann' },
    ])
  })

  test('an applicant of a lobby learns that the host bans them, or that the lobby closes', () => {
    const game = play(aLobby({ entry: { kind: 'approval' } }))
    for (const playerId of ['bob', 'cleo']) game.do(join(playerId))
    const denied = { type: 'applicant.decided', approved: false }
    expect(game.do({ kind: 'kick', playerId: 'ann', targetId: 'bob', ban: true })).toMatchObject([
      { ...denied, to: 'bob' },
    ])
    expect(game.do({ kind: 'close', playerId: 'ann' })).toMatchObject([
      { ...denied, to: 'cleo' },
      { type: 'lobby.closed' },
    ])
  })

  test('the host of a lobby cannot approve more applicants than there are free slots', () => {
    const game = play(aLobby({ entry: { kind: 'approval' }, maxPlayers: 2 }))
    for (const playerId of ['bob', 'cleo']) game.do(join(playerId))
    game.do({ kind: 'decide', playerId: 'ann', applicantId: 'bob', approve: true })
    expect(game.do({ kind: 'decide', playerId: 'ann', applicantId: 'cleo', approve: true })).toBe('lobby-full')
  })

  test('joining a lobby after the start is possible only if the lobby allows it', () => {
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
    expect(open.do({ kind: 'authorized', sessionId: 'session-1', seat })).toMatchObject([
      { type: 'relay.credentials', to: 'dora' },
    ])
    expect(workOf(open.lobby)).toEqual([])
  })
})

describe('leaving a lobby', () => {
  test('leaving a lobby keeps the slot for a return, unless it is taken or the time is over', () => {
    const game = withThree()
    game.do({ kind: 'leave', playerId: 'bob' })
    game.do({ kind: 'leave', playerId: 'cleo' })
    game.do(join('cleo'))
    expect(game.lobby.members.at(-1)).toMatchObject({ id: 'cleo', slot: 2 })
    // A new member takes another slot while there is one.
    game.do(join('dora'))
    game.do(join('bob'))
    expect(game.lobby.members.map(({ id, slot }) => [id, slot])).toEqual([
      ['ann', 0],
      ['bob', 1],
      ['cleo', 2],
      ['dora', 3],
    ])
    game.do({ kind: 'leave', playerId: 'bob' })
    game.do(join('eve'))
    expect(game.lobby.members.find(({ id }) => id === 'eve')?.slot).toBe(1)
    game.do({ kind: 'leave', playerId: 'dora' })
    game.do({ kind: 'leave', playerId: 'eve' })
    game.wait(defaultRules.holdSlotMs, 'ann', 'cleo')
    game.do(join('dora'))
    expect(game.lobby.members.find(({ id }) => id === 'dora')?.slot).toBe(1)
  })

  test('a silent member of a lobby is away after 30 s and is removed 120 s later', () => {
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

  test('the removal of a silent lobby member does not depend on ticks', () => {
    const game = withThree()
    game.now += 30_000
    expect(game.do({ kind: 'setReady', playerId: 'bob', ready: true })).toBe('away')
    game.now += defaultRules.maxLifetimeMs
    expect(game.do(join('dora'))).toBe('not-joinable')
  })

  test('a ban from a lobby lasts until it is lifted', () => {
    const game = withThree()
    expect(types(game.do({ kind: 'kick', playerId: 'ann', targetId: 'bob', ban: true }))).toEqual([
      'you.left',
      'member.left',
    ])
    expect(game.do(join('bob'))).toBe('not-joinable')
    game.do({ kind: 'unban', playerId: 'ann', targetId: 'bob' })
    expect(types(game.do(join('bob')))).toEqual(['member.joined'])
  })
})

describe('the host of a lobby', () => {
  test('the host of a lobby is succeeded by the member who has been present longest', () => {
    const game = withThree()
    game.wait(30_000, 'ann', 'cleo') // bob is away
    game.do(join('bob'))
    expect(types(game.do({ kind: 'leave', playerId: 'ann' }))).toEqual(['you.left', 'member.left', 'host.changed'])
    expect(game.lobby.hostId).toBe('cleo')
  })

  test('the host of a lobby can hand over the role to a member who is present', () => {
    const game = withThree()
    expect(game.do({ kind: 'transferHost', playerId: 'bob', targetId: 'cleo' })).toBe('not-host')
    expect(game.do({ kind: 'transferHost', playerId: 'ann', targetId: 'eve' })).toBe('no-such-player')
    expect(game.do({ kind: 'transferHost', playerId: 'ann', targetId: 'ann' })).toBe('own-player')
    expect(game.do({ kind: 'transferHost', playerId: 'ann', targetId: 'cleo' })).toMatchObject([
      { type: 'host.changed', hostId: 'cleo' },
    ])
  })

  test.each(['start', 'stop', 'close'] as const)('only the host of a lobby may %s', (kind) => {
    expect(withThree().do({ kind, playerId: 'bob' })).toBe('not-host')
    expect(withThree().do({ kind, playerId: 'eve' })).toBe('no-such-lobby')
  })
})

describe('the data of a lobby', () => {
  test('the data of a lobby is changed only with the latest version', () => {
    const game = withThree()
    expect(
      game.do({ kind: 'setData', playerId: 'ann', changes: { map: 'desert', fog: true }, ifVersion: 1 }),
    ).toMatchObject([{ version: 2 }])
    expect(game.do({ kind: 'setData', playerId: 'ann', changes: { map: 'ice' }, ifVersion: 1 })).toBe('stale-version')
    game.do({ kind: 'setData', playerId: 'ann', changes: { fog: null }, ifVersion: undefined })
    expect(game.lobby).toMatchObject({ data: { map: 'desert' }, dataVersion: 3 })
    expect(game.do({ kind: 'setMemberData', playerId: 'bob', changes: { hat: 'red' }, ifVersion: 2 })).toBe(
      'stale-version',
    )
    expect(game.do({ kind: 'setMemberData', playerId: 'bob', changes: { hat: 'red' }, ifVersion: 1 })).toMatchObject([
      { type: 'member.data', version: 2 },
    ])
    expect(game.do({ kind: 'setData', playerId: 'bob', changes: {}, ifVersion: undefined })).toBe('not-host')
  })

  test('the data of a lobby is bounded in size', () => {
    const many = Object.fromEntries(Array.from({ length: 33 }, (_, index) => [`key${index}`, 1]))
    expect(withThree().do({ kind: 'setData', playerId: 'ann', changes: many, ifVersion: undefined })).toBe(
      'data-too-large',
    )
  })
})

describe('the end of a lobby', () => {
  test.each([
    ['empty', 90_000, []],
    ['idle', 600_000, ['ann', 'bob', 'cleo']],
  ] as const)('a lobby ends once it has been %s for too long', (reason, ms, alive) => {
    const game = withThree()
    game.wait(ms - 1000, ...alive)
    expect(game.lobby.phase).toBe('open')
    game.wait(2000, ...alive)
    expect(game.lobby.events.at(-1)).toMatchObject({ type: 'lobby.closed', reason })
  })

  test('a lobby ends after 4 hours of running, since a running lobby is not idle', () => {
    const game = running()
    game.wait(defaultRules.maxLifetimeMs - 2000 - 1000, 'ann', 'bob')
    expect(game.lobby.phase).toBe('running')
    game.wait(1000, 'ann', 'bob')
    expect(game.lobby.events.at(-1)).toMatchObject({ type: 'lobby.closed', reason: 'too old' })
  })

  test('an ended lobby refuses commands, and is kept until its session is deleted and its end event is old', () => {
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

  test('a lobby whose members are all away does not end: the session ends, and the first to return is host', () => {
    const game = running()
    game.wait(40_000)
    expect(game.lobby).toMatchObject({ phase: 'open', hostId: undefined, run: undefined })
    expect(endable(game.lobby)).toEqual(['session-1'])
    expect(types(game.do(join('cleo')))).toEqual(['member.back', 'host.changed'])
  })
})

test('the oldest events of a lobby are dropped beyond a maximum number of events', () => {
  const game = play(aLobby())
  for (let count = 0; count < 100; count += 1) game.do({ kind: 'setReady', playerId: 'ann', ready: count % 2 === 0 })
  expect(game.lobby.seq).toBe(100)
  expect(game.lobby.events.map(({ seq }) => seq)).toEqual(Array.from({ length: 64 }, (_, index) => 37 + index))
})
