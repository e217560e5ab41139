/** The exports of `@muster/emulator/peer`: a player's end of a relay session. */
export { type ClientPeer, createPeer, type HostPeer, type PeerConnection, PeerError, type PeerOptions } from './peer.js'
