/** The exports of `@muster/emulator/peer`: a player's end of a relay session. */
export { createPeer, type ClientMessage, type ClientPeer, type HostMessage, type HostPeer } from './peer.js'
export type { PeerConnection } from './peer-connection.js'
export { PeerError, type PeerProblem } from './peer-error.js'
export type { PeerOptions, PeerRole } from './peer-options.js'
export type { PeerState } from './peer-state.js'
