import { describe, expect, test } from 'vitest'
import { sessionOf } from './lobby.js'
import { aLobby, aSession, ipOf, join, play, running, seated, types, withThree } from './lobby.fixture.js'
import { defaultRules } from '../lobby-rules.js'
import { endable, workOf } from './run.js'

describe('the run of a lobby', () => {
  test('the run of a lobby starts when all are ready, if the lobby requires it', () => {
    const game = withThree({ requireReady: true })
    game.do({ kind: 'setReady', playerId: 'bob', ready: true })
    expect(game.do({ kind: 'start', playerId: 'ann' })).toBe('not-ready')
    game.do({ kind: 'setReady', playerId: 'cleo', ready: true })
    expect(types(game.do({ kind: 'start', playerId: 'ann' }))).toEqual(['lobby.starting'])
    expect(game.do({ kind: 'start', playerId: 'ann' })).toBe('already-started')
  })

  test('the run of a lobby has one session, and any other that was opened is deleted', () => {
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

  test('a process can take over the run of a lobby from a process that is silent', () => {
    const game = withThree()
    game.do({ kind: 'start', playerId: 'ann' })
    game.do({ kind: 'claim', worker: 'w' })
    game.wait(defaultRules.leaseMs, 'ann', 'bob', 'cleo')
    game.do({ kind: 'claim', worker: 'other' })
    game.do({ kind: 'opened', worker: 'w', term: 1, session: aSession(game.lobby, 1) })
    expect(endable(game.lobby)).toEqual(['session-1'])
  })

  test('a member who left a running lobby has no seat, and the token is revoked', () => {
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

  test('a relay token that arrives after its player left the lobby is revoked', () => {
    const game = running()
    game.do(join('dora'))
    game.do({ kind: 'leave', playerId: 'dora' })
    expect(
      game.do({ kind: 'authorized', sessionId: 'session-1', seat: { id: 'dora', ip: ipOf('dora'), token: 77 } }),
    ).toEqual([])
    expect(sessionOf(game.lobby)?.spent).toEqual([77])
  })

  test('a lobby member who was away or has a new address gets a new relay token', () => {
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

  test('a running lobby gets a new relay session at once when the host leaves', () => {
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

  test('after a handover of the host role, a running lobby keeps its session until the new one is ready', () => {
    const game = running()
    game.do({ kind: 'transferHost', playerId: 'ann', targetId: 'bob' })
    expect(endable(game.lobby)).toEqual([])
    game.open()
    expect(endable(game.lobby)).toEqual(['session-1'])
  })

  test('a running lobby does not keep its old session if a member who has a token of that session leaves', () => {
    const game = running()
    game.do({ kind: 'transferHost', playerId: 'ann', targetId: 'bob' })
    game.do({ kind: 'kick', playerId: 'bob', targetId: 'cleo', ban: false })
    expect(endable(game.lobby)).toEqual(['session-1'])
  })

  test('a running lobby needs no further session if the host changes before its session is ready', () => {
    const game = withThree()
    game.do({ kind: 'start', playerId: 'ann' })
    game.do({ kind: 'leave', playerId: 'ann' })
    game.open()
    expect(sessionOf(game.lobby)).toMatchObject({ hostId: 'bob', id: 'session-1' })
  })

  test('a lobby opens again if its run fails', () => {
    const game = withThree()
    game.do({ kind: 'start', playerId: 'ann' })
    game.do({ kind: 'claim', worker: 'w' })
    expect(game.do({ kind: 'failed', worker: 'w', term: 1, reason: 'not ready in time' })).toMatchObject([
      { type: 'run.failed', term: 1 },
    ])
    expect(game.lobby).toMatchObject({ phase: 'open', run: undefined })
    expect(types(game.do({ kind: 'start', playerId: 'ann' }))).toEqual(['lobby.starting'])
  })

  test('the run of a lobby replaces a lost session once', () => {
    const game = running()
    expect(types(game.do({ kind: 'lost', sessionId: 'session-1' }))).toEqual(['relay.moving'])
    expect(game.do({ kind: 'lost', sessionId: 'session-1' })).toEqual([])
    expect(endable(game.lobby)).toEqual(['session-1'])
  })

  test('the run of a lobby can be stopped and started again', () => {
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

    test('the run of a lobby as a match ends if a member leaves while the ticket is created', () => {
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
      ['a member leaves', { kind: 'leave', playerId: 'bob' }],
      ['a member is kicked', { kind: 'kick', playerId: 'ann', targetId: 'bob', ban: false }],
      ['the host leaves', { kind: 'leave', playerId: 'ann' }],
      ['the host stops the run', { kind: 'stop', playerId: 'ann' }],
      ['the host ends the lobby', { kind: 'close', playerId: 'ann' }],
      ['the process shuts down', { kind: 'shutDown' }],
    ] as const)('the ticket of a lobby is withdrawn before its assignment when %s', (_, command) => {
      const waiting = handedOver()
      expect(types(waiting.do(command))[0]).toBe('run.ended')
      expect(endable(waiting.lobby)).toEqual(['ticket-1'])
      const assigned = handedOver()
      assigned.do({ kind: 'matchAssigned', term: 1, assignment })
      assigned.do(command)
      expect(endable(assigned.lobby)).toEqual([])
    })

    test('the ticket of a lobby is withdrawn when a member is silent for too long', () => {
      const game = handedOver()
      game.wait(30_000, 'ann', 'bob')
      expect(types(game.lobby.events.slice(-2))).toEqual(['run.ended', 'member.away'])
      expect(endable(game.lobby)).toEqual(['ticket-1'])
    })

    test('the ticket of a lobby continues when the address of a member changes', () => {
      const game = handedOver()
      expect(game.do(join('bob', { ip: '198.51.100.1' }))).toEqual([])
      expect(endable(game.lobby)).toEqual([])
    })

    test('the match of a lobby is assigned once, and only by a report with the term of the current run', () => {
      const game = handedOver()
      expect(game.do({ kind: 'matchAssigned', term: 2, assignment })).toEqual([])
      expect(game.do({ kind: 'matchAssigned', term: 1, assignment })).toMatchObject([{ type: 'match.assigned' }])
      expect(game.do({ kind: 'matchAssigned', term: 1, assignment })).toEqual([])
      expect(game.lobby).toMatchObject({ phase: 'running', run: { status: 'assigned', term: 1, assignment } })
      expect(types(game.do({ kind: 'leave', playerId: 'bob' }))).toEqual(['you.left', 'member.left'])
      expect(types(game.do({ kind: 'matchEnded', term: 1, reason: 'over' }))).toEqual(['run.ended'])
      expect(game.do({ kind: 'matchEnded', term: 1, reason: 'over' })).toEqual([])
    })

    test('the match of a lobby can be assigned before the lobby has recorded the id of its ticket', () => {
      const game = withThree({ outcome: 'match' })
      game.do({ kind: 'start', playerId: 'ann' })
      game.do({ kind: 'claim', worker: 'w' })
      expect(types(game.do({ kind: 'matchAssigned', term: 1, assignment }))).toEqual(['match.assigned'])
      expect(game.do({ kind: 'handedOver', worker: 'w', term: 1, reference: 'ticket-1' })).toEqual([])
      expect(endable(game.lobby)).toEqual([])
    })

    test('a lobby in a match admits no player, not even by approval', () => {
      const game = play(aLobby({ outcome: 'match', entry: { kind: 'approval' } }))
      game.do(join('bob'))
      game.do({ kind: 'start', playerId: 'ann' })
      expect(game.do({ kind: 'decide', playerId: 'ann', applicantId: 'bob', approve: true })).toBe('already-started')
    })

    test('match reports have no effect on a lobby that uses a relay session', () => {
      const game = running()
      expect(game.do({ kind: 'matchAssigned', term: 1, assignment })).toEqual([])
      expect(game.do({ kind: 'matchEnded', term: 1, reason: 'x' })).toEqual([])
    })
  })
})
