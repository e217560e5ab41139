/** Relay sessions of the emulated service, and the UDP relay with its bad network. */
export { PacketFault } from './bad-network.js'
export { dataPacket, MAX_PAYLOAD, pingPacket, readRelayed, relayState, type RelayState, type Side } from './packet.js'
export type { RelaySessionRecord } from './relay-session.js'
export { createRelays, type RelayFault, type Relays, type RelaySummary } from './relays.js'
export { createUdpRelay } from './udp-relay.js'
