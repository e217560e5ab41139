import { describe, expect, test } from 'vitest'
import { sessionOf } from './lobby.js'
import { aLobby, aSession, ipOf, join, play, running, seated, types, withThree } from './lobby.fixture.js'
import { defaultRules } from '../lobby-rules.js'
import { endable, workOf } from './run.js'

describe('the run of a lobby', () => {
  test('starts when all are ready, where the lobby requires it', () => {
    const game = withThree({ requireReady: true })
    game.do({ kind: 'setReady', playerId: 'bob', ready: true })
    expect(game.do({ kind: 'start', playerId: 'ann' })).toBe('not-ready')
    game.do({ kind: 'setReady', playerId: 'cleo', ready: true })
    expect(types(game.do({ kind: 'start', playerId: 'ann' }))).toEqual(['lobby.starting'])
    expect(game.do({ kind: 'start', playerId: 'ann' })).toBe('already-started')
  })

  test('has one session, and any other that was opened is ended', () => {
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

  test('can be taken over from a silent process', () => {
    const game = withThree()
    game.do({ kind: 'start', playerId: 'ann' })
    game.do({ kind: 'claim', worker: 'w' })
    game.wait(defaultRules.leaseMs, 'ann', 'bob', 'cleo')
    game.do({ kind: 'claim', worker: 'other' })
    game.do({ kind: 'opened', worker: 'w', term: 1, session: aSession(game.lobby, 1) })
    expect(endable(game.lobby)).toEqual(['session-1'])
  })

  test('has no seat for a member who left, whose token is revoked', () => {
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

  test('revokes a token that arrives after its player left', () => {
    const game = running()
    game.do(join('dora'))
    game.do({ kind: 'leave', playerId: 'dora' })
    expect(
      game.do({ kind: 'authorized', sessionId: 'session-1', seat: { id: 'dora', ip: ipOf('dora'), token: 77 } }),
    ).toEqual([])
    expect(sessionOf(game.lobby)?.spent).toEqual([77])
  })

  test('gives a new token to a member who was away or has a new address', () => {
    const game = running()
    game.do(join('bob', { ip: '198.51.100.1' }))
    expect(workOf(game.lobby)).toMatchObject([
      { kind: 'revoke', session: { spent: [101] } },
      { kind: 'authorize', player: { id: 'bob', ip: '198.51.100.1' } },
    ])
    game.wait(30_000, 'ann', 'bob')
    expect(seated(game)).toEqual(['ann'])
    game.do(join('cleo'))
    expect(workOf(game.lobby).map(({ kind }) => kind)).toEqual(['revoke', 'authorize', 'authorize'])
  })

  test('gets a new session at once when the host leaves', () => {
    const game = running()
    expect(types(game.do({ kind: 'leave', playerId: 'ann' }))).toEqual([
      'you.left',
      'member.left',
      'host.changed',
      'relay.moving',
    ])
    expect(endable(game.lobby)).toEqual(['session-1'])
    expect(types(game.open())).toEqual(['relay.ready'])
    expect(sessionOf(game.lobby)).toMatchObject({ hostId: 'bob', id: 'session-2' })
    expect(game.lobby).toMatchObject({ term: 2, phase: 'running' })
  })

  test('keeps the old session until the new one is ready when the host role is handed on', () => {
    const game = running()
    game.do({ kind: 'transferHost', playerId: 'ann', targetId: 'bob' })
    expect(endable(game.lobby)).toEqual([])
    game.open()
    expect(endable(game.lobby)).toEqual(['session-1'])
  })

  test('but not if a member with a token of it leaves', () => {
    const game = running()
    game.do({ kind: 'transferHost', playerId: 'ann', targetId: 'bob' })
    game.do({ kind: 'kick', playerId: 'bob', targetId: 'cleo', ban: false })
    expect(endable(game.lobby)).toEqual(['session-1'])
  })

  test('needs no other session if the host changes before it is ready', () => {
    const game = withThree()
    game.do({ kind: 'start', playerId: 'ann' })
    game.do({ kind: 'leave', playerId: 'ann' })
    game.open()
    expect(sessionOf(game.lobby)).toMatchObject({ hostId: 'bob', id: 'session-1' })
  })

  test('opens the lobby again if it fails', () => {
    const game = withThree()
    game.do({ kind: 'start', playerId: 'ann' })
    game.do({ kind: 'claim', worker: 'w' })
    expect(game.do({ kind: 'failed', worker: 'w', term: 1, reason: 'not ready in time' })).toMatchObject([
      { type: 'run.failed', term: 1 },
    ])
    expect(game.lobby).toMatchObject({ phase: 'open', run: undefined })
    expect(types(game.do({ kind: 'start', playerId: 'ann' }))).toEqual(['lobby.starting'])
  })

  test('replaces a lost session once', () => {
    const game = running()
    expect(types(game.do({ kind: 'lost', sessionId: 'session-1' }))).toEqual(['relay.moving'])
    expect(game.do({ kind: 'lost', sessionId: 'session-1' })).toEqual([])
    expect(endable(game.lobby)).toEqual(['session-1'])
  })

  test('can be stopped and started again', () => {
    const game = running()
    expect(types(game.do({ kind: 'stop', playerId: 'ann' }))).toEqual(['run.ended'])
    expect(game.do({ kind: 'stop', playerId: 'ann' })).toBe('not-started')
    game.do({ kind: 'start', playerId: 'ann' })
    expect(game.lobby.term).toBe(2)
  })

  describe('the run of a lobby as a match', () => {
    const handedOver = (reference = 'ticket-1') => {
      const game = withThree({ outcome: 'match' })
      game.do({ kind: 'start', playerId: 'ann' })
      game.do({ kind: 'claim', worker: 'w' })
      game.do({ kind: 'handedOver', worker: 'w', term: 1, reference })
      return game
    }
    const assignment = { server: '203.0.113.9:31000' }

    test('ends if a member leaves while it is handed over', () => {
      const game = withThree({ outcome: 'match' })
      game.do({ kind: 'setReady', playerId: 'cleo', ready: true })
      game.do({ kind: 'start', playerId: 'ann' })
      game.do({ kind: 'claim', worker: 'w' })
      expect(types(game.do({ kind: 'leave', playerId: 'bob' }))).toEqual(['run.ended', 'you.left', 'member.left'])
      expect(game.lobby).toMatchObject({
        phase: 'open',
        run: undefined,
        members: [{ id: 'ann' }, { id: 'cleo', ready: false }],
      })
      game.do({ kind: 'handedOver', worker: 'w', term: 1, reference: 'ticket-1' })
      expect(endable(game.lobby)).toEqual(['ticket-1'])
    })

    test.each([
      ['somebody leaves', { kind: 'leave', playerId: 'bob' }],
      ['somebody is kicked', { kind: 'kick', playerId: 'ann', targetId: 'bob', ban: false }],
      ['the host leaves', { kind: 'leave', playerId: 'ann' }],
      ['the host stops it', { kind: 'stop', playerId: 'ann' }],
      ['the host ends the lobby', { kind: 'close', playerId: 'ann' }],
      ['all is shut down', { kind: 'shutDown' }],
    ] as const)('is withdrawn before its assignment when %s', (_, command) => {
      const waiting = handedOver()
      expect(types(waiting.do(command))[0]).toBe('run.ended')
      expect(endable(waiting.lobby)).toEqual(['ticket-1'])
      const assigned = handedOver()
      assigned.do({ kind: 'matchAssigned', term: 1, assignment })
      assigned.do(command)
      expect(endable(assigned.lobby)).toEqual([])
    })

    test('is withdrawn when a member is silent for too long', () => {
      const game = handedOver()
      game.wait(30_000, 'ann', 'bob')
      expect(types(game.lobby.events.slice(-2))).toEqual(['run.ended', 'member.away'])
      expect(endable(game.lobby)).toEqual(['ticket-1'])
    })

    test('goes on when the address of a member changes', () => {
      const game = handedOver()
      expect(game.do(join('bob', { ip: '198.51.100.1' }))).toEqual([])
      expect(endable(game.lobby)).toEqual([])
    })

    test('is assigned once, for the term of the report', () => {
      const game = handedOver()
      expect(game.do({ kind: 'matchAssigned', term: 2, assignment })).toEqual([])
      expect(game.do({ kind: 'matchAssigned', term: 1, assignment })).toMatchObject([{ type: 'match.assigned' }])
      expect(game.do({ kind: 'matchAssigned', term: 1, assignment })).toEqual([])
      expect(game.lobby).toMatchObject({ phase: 'running', run: { status: 'assigned', term: 1, assignment } })
      expect(types(game.do({ kind: 'leave', playerId: 'bob' }))).toEqual(['you.left', 'member.left'])
      expect(types(game.do({ kind: 'matchEnded', term: 1, reason: 'over' }))).toEqual(['run.ended'])
      expect(game.do({ kind: 'matchEnded', term: 1, reason: 'over' })).toEqual([])
    })

    test('may be assigned before the handover is recorded', () => {
      const game = withThree({ outcome: 'match' })
      game.do({ kind: 'start', playerId: 'ann' })
      game.do({ kind: 'claim', worker: 'w' })
      expect(types(game.do({ kind: 'matchAssigned', term: 1, assignment }))).toEqual(['match.assigned'])
      expect(game.do({ kind: 'handedOver', worker: 'w', term: 1, reference: 'ticket-1' })).toEqual([])
      expect(endable(game.lobby)).toEqual([])
    })

    test('that fails opens the lobby again without a withdrawal', () => {
      const game = handedOver()
      const events = game.do({ kind: 'matchEnded', term: 1, reason: 'expired' })
      expect(events).toMatchObject([{ type: 'run.failed', reason: 'expired' }])
      expect(game.lobby).toMatchObject({ phase: 'open', run: undefined })
      expect(endable(game.lobby)).toEqual([])
    })

    test('admits nobody after the start, also not by approval', () => {
      const game = play(aLobby({ outcome: 'match', entry: { kind: 'approval' } }))
      game.do(join('bob'))
      game.do({ kind: 'start', playerId: 'ann' })
      expect(game.do({ kind: 'decide', playerId: 'ann', applicantId: 'bob', approve: true })).toBe('already-started')
    })

    test('has no effect on a lobby that uses a relay session', () => {
      const game = running()
      expect(game.do({ kind: 'matchAssigned', term: 1, assignment })).toEqual([])
      expect(game.do({ kind: 'matchEnded', term: 1, reason: 'x' })).toEqual([])
    })
  })
})
