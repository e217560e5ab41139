import { repeatFor, SAME_POLL_MS } from './connection.js'
import { createListeners } from './listeners.js'
import type { Muster } from './muster.js'
import { goodBody, MusterError } from './refusal.js'

/** A value that a game gives a lobby, or a member. */
type LobbyValue = string | number | boolean

/** A lobby as one of its members sees it. One frozen value: the same object until something changes. */
export interface LobbyState {
  readonly id: string
  /** By which others join. */
  readonly code: string
  readonly phase: 'open' | 'starting' | 'running' | 'closed'
  /** Why one is not in it any more; null while one is. */
  readonly left: string | null
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
  /** While it runs: how one's own packets reach the others. */
  readonly relay: RelayCredentials | null
}

/** What one needs to send packets by the relay: see docs/relay-packets.md. Nobody else gets it. */
export interface RelayCredentials {
  readonly role: 'host' | 'client'
  readonly host: string
  readonly port: number
  readonly sessionToken: number
  readonly userToken: number
}

interface NewLobby {
  /** 1 to 64. */
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
  /** By the host. `state.relay` has the way to the others once it runs. */
  start(): Promise<void>
  kick(playerId: string): Promise<void>
  /** Makes another member the host, by the host. */
  handOver(playerId: string): Promise<void>
  /** Changes the lobby's data, by the host. null takes a value away. */
  setData(changes: Readonly<Record<string, LobbyValue | null>>): Promise<void>
  leave(): Promise<void>
  /** Follows it no more. One stays a member until that times out. */
  close(): void
}

/** Lobbies of the relay. All calls reject with a `MusterError`. */
interface Lobbies {
  create(lobby: NewLobby): Promise<Lobby>
  join(code: string, password?: string): Promise<Lobby>
  /** Takes up a lobby that one is in, as after a reload. */
  open(lobbyId: string): Promise<Lobby>
}

interface WireLobby extends Omit<LobbyState, 'id' | 'left' | 'relay'> {
  readonly lobbyId: string
  readonly run: { readonly status: string; readonly credentials?: RelayCredentials | null } | null
}
interface Followed {
  readonly messages: readonly { readonly type: string; readonly reason?: string }[]
  readonly cursor: number
  readonly over: boolean
}

const WAIT_SECONDS = 25

const stateOf = ({ lobbyId, run, code, phase, maxPlayers, hostId, members, data }: WireLobby): LobbyState =>
  Object.freeze({
    id: lobbyId,
    code,
    phase,
    left: null,
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

/** @param path where the lobby API is, below the URL of the ticket API. Default: beside it. */
export function createLobbies(muster: Muster, { path = '' }: { readonly path?: string } = {}): Lobbies {
  const call = async (shape: string, method: string, below: string, body?: object) =>
    goodBody(await muster.send({ method, path: `${path}/lobbies${below}`, body }), shape)

  const follow = (first: WireLobby): Lobby => {
    const ending = new AbortController()
    const { signal } = ending
    const { subscribe, tell } = createListeners<LobbyState>()
    const at = `/${encodeURIComponent(first.lobbyId)}`
    let state = stateOf(first)

    const show = (next: LobbyState) => {
      if (JSON.stringify(next) === JSON.stringify(state)) return
      state = next
      tell(state)
    }
    const read = async () => {
      const request = { method: 'GET', path: `${path}/lobbies${at}`, signal }
      const { status, body } = await repeatFor('lobby', muster, request)
      if (status === 200) show(stateOf(body as WireLobby))
      return status
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
        if (status === 409) cursor = undefined
        else if (status !== 200) return leave('gone')
        else {
          const { messages, over, cursor: next } = body as Followed
          cursor = next
          const ended = messages.find(({ type }) => type === 'you.left' || type === 'lobby.closed')
          if (ended !== undefined || over) return leave(ended?.reason ?? 'gone')
          if (messages.length > 0 && (await read()) !== 200 && !signal.aborted) return leave('gone')
          // A proxy may answer each at once.
          const earlyMs = askedAt + SAME_POLL_MS - muster.clock.now()
          if (messages.length === 0 && waitMs > 0 && earlyMs > 0)
            await muster.clock.sleep(earlyMs, signal).catch(() => {})
        }
      }
    }
    void watch()
    const act = async (method: string, below: string, body?: object) => {
      const answer = await call('lobby?', method, at + below, body)
      if (answer && !signal.aborted) show(stateOf(answer as WireLobby))
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
        await call('anything', 'DELETE', `${at}/me`)
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
      throw new MusterError({ status: 202, code: 'waiting', message: 'The host has yet to let the player in.' })
    },
    open: async (lobbyId) => follow((await call('lobby', 'GET', `/${encodeURIComponent(lobbyId)}`)) as WireLobby),
  }
}
