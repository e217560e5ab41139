/** Lobbies: their state, their stores, and the commands of players and hosts. */
export type { ByMember, Follow, Followed, Joined, Lobbies, LobbyMessage } from './lobbies.js'
export type { JoinLobby } from './lobby-options.js'
export { AttributeChangesSchema, AttributesSchema } from './lobby.js'
export type { ListedLobby, LobbyView, RunView } from './view.js'
