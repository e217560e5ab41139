import assert from 'node:assert/strict'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { LobbyCommand } from './command.js'
import { dueAt, step } from './step.js'
import { presentMembers, sessionOf, type Lobby } from './lobby.js'
import { aLobby, aSession, ipOf, play } from './lobby.fixture.js'
import { defaultRules } from '../lobby-rules.js'
import { ids, HOST, rarely, action } from './step-actions.fixture.js'
import { createFollower, asSeen } from './follower.fixture.js'

/** Checks what must hold in every state of a lobby, by `assert`: `expect` would take most of the time. */
function checkState(lobby: Lobby, opened: ReadonlySet<string>, ended: ReadonlySet<string>): void {
  const slots = lobby.members.map(({ slot }) => slot)
  assert(lobby.members.length <= lobby.maxPlayers)
  assert.equal(new Set(slots).size, slots.length)
  for (const slot of slots) assert(slot >= 0 && slot < lobby.maxPlayers)
  assert.equal(new Set(lobby.members.map(({ id }) => id)).size, slots.length)
  for (const { id } of lobby.members) assert(!lobby.banned.includes(id), id)

  const present = presentMembers(lobby).map(({ id }) => id)
  if (lobby.hostId === undefined) assert.deepEqual(present, [])
  else assert(present.includes(lobby.hostId), lobby.hostId)
  assert.equal(lobby.emptySince !== undefined, present.length === 0)

  const session = sessionOf(lobby)
  if (session !== undefined) {
    assert.equal(session.hostId, lobby.hostId)
    for (const seat of session.seats) {
      const member = lobby.members.find(({ id, ip }) => id === seat.id && ip === seat.ip)
      assert(member !== undefined && member.awaySince === undefined, seat.id)
    }
    const tokens = [...session.seats.map(({ token }) => token), ...session.spent]
    assert.equal(new Set(tokens).size, tokens.length)
  }
  // An opened session stays known until it has ended.
  const known = new Set([
    ...(session === undefined ? [] : [session.id]),
    ...lobby.retired.map(({ id }) => id),
    ...ended,
  ])
  for (const id of opened) assert(known.has(id), id)
  if (lobby.phase === 'closed') assert.equal(lobby.run, undefined)
}

/** Checks a step that only records that a member was seen: it may change nothing but that time. */
function checkOnlySeen(result: ReturnType<typeof step>, before: Lobby, now: number): void {
  if ('refused' in result || result.onlySeen === undefined) return
  const members = before.members.map((one) => (one.id === result.onlySeen ? { ...one, lastSeenAt: now } : one))
  assert.deepEqual(result, { lobby: { ...before, members }, events: [], onlySeen: result.onlySeen })
}

const deepFreeze = <T>(subject: T): T => {
  if (typeof subject === 'object' && subject !== null && !Object.isFrozen(subject))
    Object.values(Object.freeze(subject)).forEach(deepFreeze)
  return subject
}

test.each(['relay', 'match'] as const)(
  'property: any commands keep a lobby (%s) consistent, and its events describe every change',
  (outcome) => {
    fc.assert(
      fc.property(
        fc.record({
          maxPlayers: fc.integer({ min: 1, max: 5 }),
          approval: rarely,
          requireReady: rarely,
          lateJoin: fc.boolean(),
        }),
        fc.array(action, { minLength: 60, maxLength: 120, size: 'max' }),
        ({ maxPlayers, approval, requireReady, lateJoin }, actions) => {
          const first = aLobby({
            maxPlayers,
            requireReady,
            lateJoin,
            outcome,
            entry: { kind: approval ? 'approval' : 'open' },
          })
          const game = play(deepFreeze(first))
          const follower = createFollower(first)
          const opened = new Set<string>()
          const ended = new Set<string>()
          /** The tokens that the service has issued and not revoked, by session. */
          const valid = new Map<string, Set<number>>()
          /** The lobby when a session was requested; players may join and leave before it opens. */
          let asked = first
          let number = 0

          /** Creates commands of two processes in turn. Some of the commands are outdated. */
          const systemCommands = (what: string): LobbyCommand[] => {
            const { run, term } = game.lobby
            const session = sessionOf(game.lobby)
            const worker = number % 3 === 0 ? 'other' : 'w'
            number += 1
            const token = number + 10_000
            const claimed: LobbyCommand = { kind: 'claim', worker }
            if (what === 'tick') return [{ kind: 'tick' }]
            if (what === 'open' && outcome === 'relay' && run?.status === 'allocating') {
              return [
                claimed,
                {
                  kind: 'opened',
                  worker: number % 5 === 0 ? 'w' : worker,
                  term: number % 4 === 0 ? term - 1 : term,
                  session: aSession(asked, number, `session-${number}`),
                },
              ]
            }
            if (what === 'hand over' && outcome === 'match' && run?.status === 'allocating')
              return [claimed, { kind: 'handedOver', worker, term, reference: `ticket-${number}` }]
            // Reports may arrive at any time, also about ended runs.
            const told = number % 4 === 0 ? term - 1 : term
            if (what === 'assign') return [{ kind: 'matchAssigned', term: told, assignment: { server: `s${number}` } }]
            if (what === 'match ends') return [{ kind: 'matchEnded', term: told, reason: 'x' }]
            if (what === 'fail') return [claimed, { kind: 'failed', worker, term, reason: 'x' }]
            if (what === 'authorize' && session !== undefined) {
              const id = ids[number % ids.length] as string
              return [{ kind: 'authorized', sessionId: session.id, seat: { id, ip: ipOf(id), token } }]
            }
            if (what === 'revoke' && session !== undefined)
              return [{ kind: 'revoked', sessionId: session.id, tokens: session.spent.slice(0, 1) }]
            if (what === 'lose' && session !== undefined) return [{ kind: 'lost', sessionId: session.id }]
            const retired = game.lobby.retired[0]
            return what === 'end' && retired !== undefined ? [{ kind: 'ended', retiredId: retired.id }] : []
          }

          const timePasses = function* ({
            steps,
            silent,
          }: {
            readonly steps: number
            readonly silent: string
          }): Generator<LobbyCommand> {
            const isSilent = (id: string) =>
              silent === 'everybody' || id === (silent === HOST ? game.lobby.hostId : silent)
            for (let count = 0; count < steps; count += 1) {
              game.now += 10_000
              for (const id of ids) if (!isSilent(id)) yield { kind: 'heartbeat', playerId: id }
            }
          }
          const giveTokens = (command: LobbyCommand) => {
            if (command.kind === 'opened')
              valid.set(command.session.id, new Set(command.session.seats.map(({ token }) => token)))
            if (command.kind === 'authorized') valid.get(command.sessionId)?.add(command.seat.token)
            if (command.kind === 'revoked')
              for (const token of command.tokens) valid.get(command.sessionId)?.delete(token)
          }
          const fromHost = (command: LobbyCommand): LobbyCommand =>
            'playerId' in command && command.playerId === HOST
              ? { ...command, playerId: game.lobby.hostId ?? 'nobody' }
              : command

          for (const one of actions) {
            for (const command of 'system' in one
              ? systemCommands(one.system)
              : 'kind' in one
                ? [fromHost(one)]
                : timePasses(one)) {
              const before = game.lobby
              const events = game.do(command)
              deepFreeze(game.lobby)
              if (command.kind === 'opened') opened.add(command.session.id)
              if (command.kind === 'ended') ended.add(command.retiredId)
              // A match handed over stays known until it is withdrawn or the matchmaker reports its outcome.
              if (
                before.run?.status === 'handed-over' &&
                command.kind !== 'matchAssigned' &&
                command.kind !== 'matchEnded'
              ) {
                const { reference } = before.run
                const isKept = game.lobby.run?.status === 'handed-over' && game.lobby.run.reference === reference
                assert(isKept || game.lobby.retired.some(({ id }) => id === reference), reference)
              }
              if (command.kind === 'start') asked = game.lobby
              giveTokens(command)
              assert(game.lobby.term >= before.term)
              if (typeof events === 'string') assert.equal(game.lobby, before)
              else {
                checkOnlySeen(step(command, before, game.now, defaultRules), before, game.now)
                assert.deepEqual(
                  events.map(({ seq }) => seq),
                  Array.from({ length: game.lobby.seq - before.seq }, (_, index) => before.seq + 1 + index),
                )
                events.forEach(follower.take)
              }
              checkState(game.lobby, opened, ended)
              const session = sessionOf(game.lobby)
              if (session !== undefined)
                assert.deepEqual(
                  new Set([...session.seats.map(({ token }) => token), ...session.spent]),
                  valid.get(session.id),
                )
              assert.deepEqual(follower.seen(), asSeen(game.lobby))
            }
            // A tick before the due time changes nothing; a tick at that time changes the lobby.
            const due = dueAt(game.lobby, game.now, defaultRules)
            const work = game.lobby.retired.length > 0 || game.lobby.run !== undefined || game.lobby.phase === 'closed'
            if (due > game.now)
              assert.deepEqual(step({ kind: 'tick' }, game.lobby, due - 1, defaultRules), {
                lobby: game.lobby,
                events: [],
              })
            if (!work)
              assert.notEqual(
                (step({ kind: 'tick' }, game.lobby, due, defaultRules) as { lobby: Lobby }).lobby,
                game.lobby,
              )
          }
          expect(JSON.parse(JSON.stringify(game.lobby))).toEqual(game.lobby)
        },
      ),
      { numRuns: 60 },
    )
  },
)
