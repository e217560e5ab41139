/** What `@muster/relay` offers: relay sessions where each peer has credentials of its own, and lobbies that lead there. */
export { createRelaySessions } from './sessions/sessions.js'
export type { OpenRelaySession, RelaySessionsOptions } from './sessions/options.js'
export type { RelaySessions, WaitOptions } from './sessions/relay-sessions.js'
export type { RelayService } from './sessions/service.js'
export type { RelayCredentials } from './sessions/credentials.js'
export type { OpenedSession, ReadySession, RelayLink, RelayPlayer, RelayPort, RelaySeat, RelaySession } from './sessions/session.js'
export type { ListedSession, OrphanOptions } from './sessions/orphans.js'
export type { DeleteReason, RelaySessionEvents } from './sessions/desk.js'
export { createLobbies } from './lobby/create-lobbies.js'
export type { CreateLobby, JoinLobby, ListLobbies, LobbiesOptions, LobbyLimits, LobbyPlayer } from './lobby/options.js'
export type { ByMember, Follow, Followed, Joined, Lobbies, LobbiesEvents, LobbyMessage, LobbySnapshot } from './lobby/lobbies.js'
export type { ListedLobby, LobbyEventView, LobbyView, MemberView, RunView } from './lobby/view.js'
export type { AttributeChanges, Attributes } from './lobby/attributes.js'
export type { HandedOver, LobbyMatchmaker } from './lobby/matchmaker.js'
export type { LobbyRules } from './lobby/rules.js'
export type { LobbyStore, PublicPage, PublicQuery, StoredLobby } from './lobby/store.js'
export { createMemoryLobbyStore } from './lobby/memory-store.js'
export {
  LobbyRefused,
  RelayClosed,
  RelayNotAuthorized,
  RelayNotDeleted,
  RelayNotReady,
  RelayNotRevoked,
  type LobbyRefusalCode,
  type NotReadyReason,
} from './errors.js'
