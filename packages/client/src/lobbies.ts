import { repeatFor, SAME_POLL_MS } from './connection.js'
import { createListeners } from './listeners.js'
import type { Muster } from './muster.js'
import { goodBody, MusterError } from './refusal.js'
import { addShapes } from './shapes.js'

/** A data value of a lobby or a member. */
type LobbyValue = string | number | boolean

/** A lobby as one of its members sees it. A frozen value, and the same object until something changes. */
export interface LobbyState {
  readonly id: string
  /** The code with which others join. */
  readonly code: string
  readonly phase: 'open' | 'starting' | 'running' | 'closed'
  /** Why the player is no longer in the lobby. Null while the player is a member. */
  readonly left: string | null
  /** Why the last start failed, e.g. `expired`. Null until a start fails, and from the next start on. */
  readonly failed: string | null
  readonly maxPlayers: number
  readonly hostId: string | null
  readonly members: readonly {
    readonly playerId: string
    readonly slot: number
    readonly present: boolean
    readonly ready: boolean
    readonly data: Readonly<Record<string, LobbyValue>>
  }[]
  readonly data: Readonly<Record<string, LobbyValue>>
  /** The credentials for packets to the other members. Null unless the lobby's relay session is ready. */
  readonly relay: RelayCredentials | null
}

/** The player's secret credentials for packets through the relay: see docs/relay-packets.md. */
export interface RelayCredentials {
  readonly role: 'host' | 'client'
  readonly host: string
  readonly port: number
  readonly sessionToken: number
  readonly userToken: number
}

interface NewLobby {
  /** Maximum number of players, from 1 to 64. */
  readonly maxPlayers: number
  readonly visibility?: 'public' | 'private'
  readonly password?: string
  readonly requireReady?: boolean
  readonly data?: Readonly<Record<string, LobbyValue>>
}

export interface Lobby {
  readonly state: LobbyState
  subscribe(listener: (state: LobbyState) => void): () => void
  ready(isReady?: boolean): Promise<void>
  /** Starts the lobby. Host only. `state.relay` then has the credentials for packets to the others. */
  start(): Promise<void>
  kick(playerId: string): Promise<void>
  /** Makes another member the host. Host only. */
  handOver(playerId: string): Promise<void>
  /** Changes the lobby's data. Host only. The value null removes an entry. */
  setData(changes: Readonly<Record<string, LobbyValue | null>>): Promise<void>
  leave(): Promise<void>
  /** Stops following the lobby. The player stays a member until Muster's timeout. */
  close(): void
}

/** Lobbies of the relay. All calls reject with a `MusterError`. */
interface Lobbies {
  create(lobby: NewLobby): Promise<Lobby>
  join(code: string, password?: string): Promise<Lobby>
  /** Opens a lobby that the player is already in, e.g. after a reload. */
  open(lobbyId: string): Promise<Lobby>
}

interface WireLobby extends Omit<LobbyState, 'id' | 'left' | 'failed' | 'relay'> {
  readonly lobbyId: string
  /** The number of the lobby's last event. */
  readonly cursor: number
  readonly run: { readonly status: string; readonly credentials?: RelayCredentials | null } | null
}
interface FollowReply {
  readonly messages: readonly { readonly type: string; readonly reason?: string }[]
  readonly cursor: number
  readonly over: boolean
}

addShapes({
  lobby: {
    lobbyId: 'text',
    code: 'text',
    phase: 'text',
    maxPlayers: 'count',
    hostId: 'text?',
    members: 'lobbyMember[]',
    data: 'object',
    run: 'run?',
  },
  lobbyMember: { playerId: 'text', slot: 'count', present: 'boolean', ready: 'boolean', data: 'object' },
  run: { status: 'text', credentials: 'credentials?' },
  credentials: { role: 'text', host: 'text', port: 'count', sessionToken: 'count', userToken: 'count' },
  joined: { status: 'text', lobby: 'lobby?' },
  followed: { messages: 'message[]', cursor: 'count', over: 'boolean' },
  message: { type: 'text', reason: 'text?' },
})

const WAIT_SECONDS = 25

const stateOf = (
  { lobbyId, run, code, phase, maxPlayers, hostId, members, data }: WireLobby,
  failed: string | null,
): LobbyState =>
  Object.freeze({
    id: lobbyId,
    code,
    phase,
    left: null,
    failed: phase === 'open' ? failed : null,
    maxPlayers,
    hostId,
    data,
    members: members.map(({ playerId, slot, present, ready, data: own }) => ({
      playerId,
      slot,
      present,
      ready,
      data: own,
    })),
    relay: run?.status === 'relayed' ? (run.credentials ?? null) : null,
  })

/**
 * Creates the lobbies of a player. @param path path of the lobby API below the URL of the ticket API. Default: the same
 * URL.
 */
export function createLobbies(muster: Muster, { path = '' }: { readonly path?: string } = {}): Lobbies {
  const call = async (shape: string, method: string, below: string, body?: object) =>
    goodBody(await muster.send({ method, path: `${path}/lobbies${below}`, body }), shape)

  const follow = (first: WireLobby): Lobby => {
    const ending = new AbortController()
    const { signal } = ending
    const { subscribe, tell } = createListeners<LobbyState>()
    const at = `/${encodeURIComponent(first.lobbyId)}`
    let failed: string | null = null
    let state = stateOf(first, failed)
    let shown = first.cursor

    const show = (next: LobbyState) => {
      if (JSON.stringify(next) === JSON.stringify(state)) return
      state = next
      tell(state)
    }
    /** Shows the lobby of an answer. A late answer describes the lobby before the changes that are shown already. */
    const take = (lobby: WireLobby) => {
      if (signal.aborted || lobby.cursor < shown) return
      shown = lobby.cursor
      show(stateOf(lobby, failed))
    }
    const read = async () => {
      const request = { method: 'GET', path: `${path}/lobbies${at}`, signal }
      const { status, body } = await repeatFor('lobby', muster, request)
      if (status === 200) take(body as WireLobby)
      return status
    }
    /** Takes the player's slot again if the player was silent for so long that Muster counts them as away. */
    const comeBack = async () => {
      const post = (below: string, body?: object) =>
        repeatFor('anything', muster, { method: 'POST', path: `${path}/lobbies${at}${below}`, body, signal })
      if ((await post('/heartbeat')).status === 409) await post('/join', {})
    }
    const leave = (reason: string) => {
      ending.abort()
      show(Object.freeze({ ...state, phase: 'closed', left: reason, relay: null }))
    }
    const watch = async () => {
      let cursor: number | undefined
      while (!signal.aborted) {
        const askedAt = muster.clock.now()
        const query = cursor === undefined ? '?wait=0' : `?wait=${WAIT_SECONDS}&after=${cursor}`
        const waitMs = cursor === undefined ? 0 : WAIT_SECONDS * 1000
        const { status, body } = await repeatFor('followed', muster, {
          method: 'GET',
          path: `${path}/lobbies${at}/events${query}`,
          waitMs,
          signal,
        })
        if (signal.aborted) return
        if (status === 409) {
          // The player has too many clients. Each new poll ends the oldest, so polls without a pause would never end.
          cursor = undefined
          await muster.clock.sleep(SAME_POLL_MS, signal).catch(() => {})
        } else if (status !== 200) return leave('gone')
        else {
          const { messages, over, cursor: next } = body as FollowReply
          // Muster goes back to an earlier state only if its store has lost the newest changes.
          if (cursor !== undefined && next < cursor) shown = next
          cursor = next
          for (const { type, reason } of messages) {
            if (type === 'run.failed') failed = reason ?? 'failed'
            else if (type === 'lobby.starting') failed = null
          }
          const ended = messages.find(({ type }) => type === 'you.left' || type === 'lobby.closed')
          if (ended !== undefined || over) return leave(ended?.reason ?? 'gone')
          // Any member may be away: the events name players, and the client does not know its own.
          if (messages.some(({ type }) => type === 'member.away' || type === 'snapshot')) await comeBack()
          if (messages.length > 0 && (await read()) !== 200 && !signal.aborted) return leave('gone')
          // Waits between two polls, because a proxy may answer each poll at once.
          const earlyMs = askedAt + SAME_POLL_MS - muster.clock.now()
          if (messages.length === 0 && waitMs > 0 && earlyMs > 0)
            await muster.clock.sleep(earlyMs, signal).catch(() => {})
        }
      }
    }
    void watch()
    const act = async (method: string, below: string, body?: object) => {
      const answer = await call('lobby?', method, at + below, body)
      if (answer) take(answer as WireLobby)
    }
    return {
      get state() {
        return state
      },
      subscribe,
      ready: (isReady = true) => act('PUT', '/me/ready', { ready: isReady }),
      start: () => act('POST', '/start'),
      kick: (playerId) => act('DELETE', `/members/${encodeURIComponent(playerId)}`),
      handOver: (playerId) => act('PUT', '/host', { playerId }),
      setData: (changes) => act('PATCH', '', { data: changes }),
      leave: async () => {
        const answer = await muster.send({ method: 'DELETE', path: `${path}/lobbies${at}/me` })
        // The answer to an earlier call may have been lost, or the lobby has just closed.
        if (answer.status !== 404 && answer.status !== 410) goodBody(answer, 'anything')
        leave('left')
      },
      close: () => ending.abort(),
    }
  }

  return {
    create: async (lobby) => follow((await call('lobby', 'POST', '', lobby)) as WireLobby),
    join: async (code, password) => {
      const joined = (await call('joined', 'POST', '/join', { code, ...(password !== undefined && { password }) })) as {
        readonly status: 'joined' | 'waiting'
        readonly lobby?: WireLobby
      }
      if (joined.lobby !== undefined) return follow(joined.lobby)
      throw new MusterError({ status: 202, code: 'waiting', message: 'The host has not approved the player yet.' })
    },
    open: async (lobbyId) => follow((await call('lobby', 'GET', `/${encodeURIComponent(lobbyId)}`)) as WireLobby),
  }
}
