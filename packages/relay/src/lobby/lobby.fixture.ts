import type { ReadySession } from '../sessions/session.js'
import type { LobbyCommand } from './command.js'
import { type Lobby, newLobby, type NewLobby, presentMembers, sessionOf } from './lobby.js'
import { defaultRules, type LobbyRules } from '../lobby-rules.js'
import { isRefusal, step, type LobbyStep } from './step.js'

export const START = Date.UTC(2026, 0, 1)

export const ipOf = (playerId: string): string => `192.0.2.${playerId.charCodeAt(0) % 3}`

/** Returns an open, public lobby whose host is `ann`. */
export const aLobby = (changes: Partial<NewLobby> = {}): Lobby =>
  newLobby(
    {
      id: 'L'.repeat(22),
      code: 'BCDFGHJK',
      visibility: 'public',
      maxPlayers: 4,
      entry: { kind: 'open' },
      lateJoin: true,
      requireReady: false,
      outcome: 'relay',
      data: {},
      host: { id: 'ann', ip: ipOf('ann'), data: {} },
      ...changes,
    },
    START,
  )

export const join = (
  playerId: string,
  changes: Partial<Extract<LobbyCommand, { kind: 'join' }>> = {},
): LobbyCommand => ({
  kind: 'join',
  playerId,
  ip: ipOf(playerId),
  by: 'code',
  digest: undefined,
  data: {},
  ...changes,
})

/** Returns a session with a token for every present member, like the service might return it for `term`. */
export function aSession(lobby: Lobby, term: number, id = `session-${term}`): ReadySession {
  return {
    id,
    label: undefined,
    hostId: lobby.hostId ?? '',
    filters: [],
    openedAt: START,
    ready: true,
    link: {
      host: 'relay.example',
      ip: undefined,
      server: { port: 1, protocol: 'UDP', link: undefined },
      client: { port: 2, protocol: 'UDP', link: undefined },
      token: 1000 + term,
    },
    seats: presentMembers(lobby).map((member, index) => ({ id: member.id, ip: member.ip, token: term * 100 + index })),
    spent: [],
  }
}

/** Creates a lobby that executes one command after the other. */
export function play(lobby: Lobby, rules: LobbyRules = defaultRules) {
  const played = {
    lobby,
    now: START,
    /** Runs a command and returns its events, or the reason of its refusal. */
    do: (command: LobbyCommand): LobbyStep['events'] | string => {
      const result = step(command, played.lobby, played.now, rules)
      if (isRefusal(result)) return result.refused
      played.lobby = result.lobby
      return result.events
    },
    /** Advances the clock tick by tick, with heartbeats from the named players. */
    wait: (ms: number, ...alive: readonly string[]) => {
      for (const end = played.now + ms; played.now < end;) {
        played.now = Math.min(end, played.now + 1000)
        for (const playerId of alive) played.do({ kind: 'heartbeat', playerId })
        played.do({ kind: 'tick' })
      }
    },
    /** Opens the session of the pending run. */
    open: () => {
      const { run } = played.lobby
      if (run?.status !== 'allocating') throw new Error('the lobby has no session to open')
      played.do({ kind: 'claim', worker: 'w' })
      return played.do({ kind: 'opened', worker: 'w', term: run.term, session: aSession(played.lobby, run.term) })
    },
  }
  return played
}

export const types = (events: LobbyStep['events'] | string): string | readonly string[] =>
  typeof events === 'string' ? events : events.map(({ type }) => type)

/** Returns the same lobby with the members bob and cleo. */
export const withThree = (...changes: Parameters<typeof aLobby>) => {
  const game = play(aLobby(...changes))
  for (const playerId of ['bob', 'cleo']) {
    game.now += 1000
    game.do(join(playerId))
  }
  return game
}

/** Returns the same lobby, started and with an open session. */
export const running = () => {
  const game = withThree()
  game.do({ kind: 'start', playerId: 'ann' })
  game.open()
  return game
}

export const seated = (game: ReturnType<typeof play>) => sessionOf(game.lobby)?.seats.map(({ id }) => id)
