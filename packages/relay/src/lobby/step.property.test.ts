import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Command } from './command.js'
import type { LobbyEvent } from './event.js'
import { dueAt } from './expiry.js'
import { presentMembers, sessionOf, type Lobby } from './lobby.js'
import { aLobby, aSession, ipOf, join, play } from './lobby.fixture.js'
import { defaultRules } from './rules.js'
import { step } from './step.js'
import { viewOf } from './view.js'

const ids = ['ann', 'bob', 'cleo', 'dora', 'eve', 'fay', 'gus']
const anyone = fc.constantFrom(...ids)
/** Whoever hosts when it is asked. */
const HOST = 'the host'
const host = fc.constant(HOST)
const rarely = fc.constantFrom(true, false, false, false)
const mostlyHost = fc.oneof({ weight: 4, arbitrary: host }, { weight: 1, arbitrary: anyone })
const value = fc.constantFrom('red', 7, true, null)
const changes = fc.dictionary(fc.constantFrom('a', 'b', 'c'), value, { maxKeys: 2 })
const ifVersion = fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined })
const ip = fc.constantFrom(undefined, undefined, undefined, '198.51.100.1')

const weighted = (weights: readonly (readonly [number, fc.Arbitrary<Command>])[]) =>
  fc.oneof(...weights.map(([weight, arbitrary]) => ({ weight, arbitrary })))
const byPlayer = weighted([
  [
    10,
    fc.record({ playerId: anyone, ip }).map((one) => join(one.playerId, one.ip === undefined ? {} : { ip: one.ip })),
  ],
  [5, fc.record({ kind: fc.constant('start'), playerId: mostlyHost })],
  [2, fc.record({ kind: fc.constant('leave'), playerId: fc.oneof(host, anyone) })],
  [4, fc.record({ kind: fc.constant('heartbeat'), playerId: anyone })],
  [1, fc.record({ kind: fc.constant('stop'), playerId: mostlyHost })],
  [1, fc.record({ kind: fc.constantFrom('close', 'heartbeat', 'heartbeat', 'heartbeat'), playerId: host })],
  [2, fc.record({ kind: fc.constant('setReady'), playerId: anyone, ready: fc.boolean() })],
  [1, fc.record({ kind: fc.constant('setData'), playerId: mostlyHost, changes, ifVersion })],
  [1, fc.record({ kind: fc.constant('setMemberData'), playerId: anyone, changes, ifVersion })],
  [2, fc.record({ kind: fc.constant('kick'), playerId: mostlyHost, targetId: anyone, ban: fc.boolean() })],
  [
    3,
    fc.record({
      kind: fc.constantFrom('unban', 'transferHost', 'transferHost'),
      playerId: mostlyHost,
      targetId: anyone,
    }),
  ],
  [3, fc.record({ kind: fc.constant('decide'), playerId: mostlyHost, applicantId: anyone, approve: fc.boolean() })],
])
/** Of the system, what depends on the state is filled in when its turn comes. */
const bySystem = fc.record({
  system: fc.constantFrom(
    'tick',
    'open',
    'open',
    'open',
    'open',
    'hand over',
    'hand over',
    'assign',
    'match ends',
    'fail',
    'authorize',
    'authorize',
    'authorize',
    'revoke',
    'lose',
    'end',
  ),
})
/** Time passes, in which all are alive but one; or none is. */
const passing = fc.record({
  steps: fc.constantFrom(1, 2, 4, 7, 13),
  silent: fc.oneof(anyone, host, fc.constantFrom('nobody', 'nobody', 'everybody')),
})
const action = fc.oneof(
  { weight: 12, arbitrary: byPlayer },
  { weight: 8, arbitrary: bySystem },
  { weight: 1, arbitrary: passing },
)

/** The simple model: what somebody knows who has only ever seen the events. */
function createFollower(lobby: Lobby) {
  const members = new Map(
    lobby.members.map((member) => [
      member.id,
      { slot: member.slot, present: true, ready: false, data: {}, dataVersion: 1 },
    ]),
  )
  const state = {
    hostId: lobby.hostId ?? null,
    phase: lobby.phase as string,
    data: {},
    dataVersion: 1,
    run: null as { term: number; status: string } | null,
  }
  const merge = (data: object, news: object) =>
    Object.fromEntries(Object.entries({ ...data, ...news }).filter(([, one]) => one !== null))
  const change = (id: string, news: object) =>
    members.set(id, { ...(members.get(id) as NonNullable<ReturnType<typeof members.get>>), ...news })
  const take = (event: LobbyEvent) => {
    switch (event.type) {
      case 'member.joined':
        return members.set(event.playerId, { slot: event.slot, present: true, ready: false, data: {}, dataVersion: 1 })
      case 'member.left':
        return members.delete(event.playerId)
      case 'member.away':
        return change(event.playerId, { present: false, ready: false })
      case 'member.back':
        return change(event.playerId, { present: true })
      case 'member.ready':
        return change(event.playerId, { ready: event.ready })
      case 'member.data':
        return change(event.playerId, {
          data: merge(members.get(event.playerId)?.data ?? {}, event.changes),
          dataVersion: event.version,
        })
      case 'host.changed':
        return Object.assign(state, { hostId: event.hostId })
      case 'data.changed':
        return Object.assign(state, { data: merge(state.data, event.changes), dataVersion: event.version })
      case 'lobby.starting':
        return Object.assign(state, { phase: 'starting', run: { term: event.term, status: 'allocating' } })
      case 'relay.moving':
        return Object.assign(state, { run: { term: event.term, status: 'allocating' } })
      case 'relay.ready':
        return Object.assign(state, { phase: 'running', run: { term: event.term, status: 'relayed' } })
      case 'match.handed-over':
        return Object.assign(state, { phase: 'running', run: { term: event.term, status: 'handed-over' } })
      case 'match.assigned':
        return Object.assign(state, { phase: 'running', run: { term: event.term, status: 'assigned' } })
      case 'run.ended':
        for (const id of members.keys()) change(id, { ready: false })
        return Object.assign(state, { phase: 'open', run: null })
      case 'run.failed':
        return Object.assign(state, { phase: 'open', run: null })
      case 'lobby.closed':
        return Object.assign(state, { phase: 'closed' })
      default:
        return undefined
    }
  }
  return { take, seen: () => ({ ...state, members: Object.fromEntries(members) }) }
}

const asSeen = (lobby: Lobby) => {
  const { hostId, phase, data, dataVersion, run, members } = viewOf(lobby, 'nobody')
  return {
    hostId,
    phase,
    data,
    dataVersion,
    run: run && { term: run.term, status: run.status },
    members: Object.fromEntries(
      members.map(({ playerId: id, slot, present, ready, data: own, dataVersion: version }) => [
        id,
        { slot, present, ready, data: own, dataVersion: version },
      ]),
    ),
  }
}

/** What must hold in any state. */
function checkState(lobby: Lobby, opened: ReadonlySet<string>, ended: ReadonlySet<string>): void {
  const slots = lobby.members.map(({ slot }) => slot)
  expect(lobby.members.length).toBeLessThanOrEqual(lobby.maxPlayers)
  expect(new Set(slots).size).toBe(slots.length)
  for (const slot of slots) expect(slot >= 0 && slot < lobby.maxPlayers).toBe(true)
  expect(new Set(lobby.members.map(({ id }) => id)).size).toBe(slots.length)
  for (const { id } of lobby.members) expect(lobby.banned).not.toContain(id)

  const present = presentMembers(lobby).map(({ id }) => id)
  if (lobby.hostId === undefined) expect(present).toEqual([])
  else expect(present).toContain(lobby.hostId)
  expect(lobby.emptySince !== undefined).toBe(present.length === 0)

  const session = sessionOf(lobby)
  if (session !== undefined) {
    expect(session.hostId).toBe(lobby.hostId)
    for (const seat of session.seats)
      expect(lobby.members).toContainEqual(expect.objectContaining({ id: seat.id, ip: seat.ip, awaySince: undefined }))
    const tokens = [...session.seats.map(({ token }) => token), ...session.spent]
    expect(new Set(tokens).size).toBe(tokens.length)
  }
  // Nothing that was opened is forgotten before it has ended.
  const known = new Set([
    ...(session === undefined ? [] : [session.id]),
    ...lobby.retired.map(({ id }) => id),
    ...ended,
  ])
  for (const id of opened) expect(known).toContain(id)
  if (lobby.phase === 'closed') expect(lobby.run).toBeUndefined()
}

const deepFreeze = <T>(subject: T): T => {
  if (typeof subject === 'object' && subject !== null && !Object.isFrozen(subject))
    Object.values(Object.freeze(subject)).forEach(deepFreeze)
  return subject
}

test.each(['relay', 'match'] as const)(
  'whatever is asked of a lobby (%s), its state holds and its events say it all',
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
          /** Tokens that the service has given out and not taken back, by session. */
          const valid = new Map<string, Set<number>>()
          /** The lobby as it was when a session was asked for; meanwhile players come and go. */
          let asked = first
          let number = 0

          /** Two processes take turns, and any of them may be too late. */
          const systemCommands = (what: string): Command[] => {
            const { run, term } = game.lobby
            const session = sessionOf(game.lobby)
            const worker = number % 3 === 0 ? 'other' : 'w'
            number += 1
            const token = number + 10_000
            const claimed: Command = { kind: 'claim', worker }
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
            // Reports come at any time, also about runs that are over.
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
          }): Generator<Command> {
            const isSilent = (id: string) =>
              silent === 'everybody' || id === (silent === HOST ? game.lobby.hostId : silent)
            for (let count = 0; count < steps; count += 1) {
              game.now += 10_000
              for (const id of ids) if (!isSilent(id)) yield { kind: 'heartbeat', playerId: id }
            }
          }
          const giveTokens = (command: Command) => {
            if (command.kind === 'opened')
              valid.set(command.session.id, new Set(command.session.seats.map(({ token }) => token)))
            if (command.kind === 'authorized') valid.get(command.sessionId)?.add(command.seat.token)
            if (command.kind === 'revoked')
              for (const token of command.tokens) valid.get(command.sessionId)?.delete(token)
          }
          const fromHost = (command: Command): Command =>
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
              // What the matchmaker was given is known, until it is withdrawn, or the matchmaker has said what became
              // of it.
              if (
                before.run?.status === 'handed-over' &&
                command.kind !== 'matchAssigned' &&
                command.kind !== 'matchEnded'
              ) {
                const { reference } = before.run
                const isKept = game.lobby.run?.status === 'handed-over' && game.lobby.run.reference === reference
                expect(isKept || game.lobby.retired.some(({ id }) => id === reference)).toBe(true)
              }
              if (command.kind === 'start') asked = game.lobby
              giveTokens(command)
              expect(game.lobby.term).toBeGreaterThanOrEqual(before.term)
              if (typeof events === 'string') expect(game.lobby).toBe(before)
              else {
                expect(events.map(({ seq }) => seq)).toEqual(
                  Array.from({ length: game.lobby.seq - before.seq }, (_, index) => before.seq + 1 + index),
                )
                events.forEach(follower.take)
              }
              checkState(game.lobby, opened, ended)
              const session = sessionOf(game.lobby)
              if (session !== undefined)
                expect(new Set([...session.seats.map(({ token }) => token), ...session.spent])).toEqual(
                  valid.get(session.id),
                )
              expect(follower.seen()).toEqual(asSeen(game.lobby))
            }
            // A tick before its time does nothing; at its time, it does something.
            const due = dueAt(game.lobby, game.now, defaultRules)
            const work = game.lobby.retired.length > 0 || game.lobby.run !== undefined || game.lobby.phase === 'closed'
            if (due > game.now)
              expect(step({ kind: 'tick' }, game.lobby, due - 1, defaultRules)).toEqual({
                lobby: game.lobby,
                events: [],
              })
            if (!work)
              expect((step({ kind: 'tick' }, game.lobby, due, defaultRules) as { lobby: Lobby }).lobby).not.toBe(
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
