/** The exports of `@muster/emulator/peer`: a player's end of a relay session. */
export { createPeer, type ClientMessage, type ClientPeer, type HostMessage, type HostPeer } from './peer.js'
export {
  type PeerConnection,
  PeerError,
  type PeerOptions,
  type PeerProblem,
  type PeerRole,
  type PeerState,
} from './peer-connection.js'
