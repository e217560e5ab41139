/** The exports of `@muster/relay`: relay sessions, lobbies, and an HTTP API for them. */
export { createLobbyApi, type LobbyApiLimits, type LobbyApiOptions, type LobbyCaller } from './api/lobby-api.js'
export {
  LobbyRefused,
  RelayClosed,
  RelayNotAuthorized,
  RelayNotDeleted,
  RelayNotReady,
  RelayNotRevoked,
  TooManyRelaySessions,
  type LobbyRefusalCode,
  type NotReadyReason,
} from './errors.js'
export type { Attributes, ClosedReason, Entry, LeftReason, Lobby, LobbyEvent, Member } from './lobby/lobby.js'
export { createLobbies } from './lobby/create-lobbies.js'
export type { Follow, Followed, Joined, Lobbies, LobbiesEvents, LobbyMessage, LobbySnapshot } from './lobby/lobbies.js'
export type {
  HandedOver,
  ListLobbies,
  LobbiesOptions,
  LobbyLimits,
  LobbyMatchmaker,
  LobbyPlayer,
  MatchReport,
} from './lobby/lobby-options.js'
export { createMemoryLobbyStore } from './lobby/memory-store.js'
export { isListed, type LobbyStore, type PublicPage, type PublicQuery, type StoredLobby } from './lobby/store.js'
export type { ListedLobby, LobbyEventView, LobbyView, MemberView, RunView } from './lobby/view.js'
export type { ReadySession, RelayCredentials, RelayPlayer, RelayPort, RelaySession } from './sessions/session.js'
export type { RelayService, RelaySessionEvents } from './sessions/session-context.js'
export type { RelaySessionsOptions } from './sessions/session-options.js'
export type { ListedSession } from './sessions/orphans.js'
export type { RelaySessions, WaitOptions } from './sessions/relay-sessions.js'
export { createRelaySessions } from './sessions/sessions.js'
