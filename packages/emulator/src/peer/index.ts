/** The exports of `@muster/emulator/peer`: a player's end of a relay session. */
export {
  type ClientMessage,
  type ClientPeer,
  createPeer,
  type HostMessage,
  type HostPeer,
  type PeerConnection,
  PeerError,
  type PeerOptions,
  type PeerProblem,
  type PeerRole,
  type PeerState,
} from './peer.js'
