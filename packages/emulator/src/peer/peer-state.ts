import { relayState, type RelayState } from '../relay-data/packet.js'
import { PeerError } from './peer-error.js'

/**
 * The state of a peer's connection to the relay.
 * - `disconnected`: not connected yet, closed, or without an answer for too long.
 * - `checking`: the relay has not decided yet.
 * - `valid`: data passes.
 * - `invalid`: the relay does not know the tokens, or knows them no longer.
 * - `timed out`: the host is silent; it may come back.
 * - `error`: the relay refuses the peer.
 */
export type PeerState = 'disconnected' | 'checking' | 'valid' | 'invalid' | 'timed out' | 'error'

const names = {
  [relayState.checking]: 'checking',
  [relayState.valid]: 'valid',
  [relayState.invalid]: 'invalid',
  [relayState.timedOut]: 'timed out',
  [relayState.error]: 'error',
} as const satisfies Record<RelayState, PeerState>

export const peerStateOf = (code: RelayState) => names[code]

/**
 * The reason for which the relay refuses a peer in this state; undefined for a state in which the peer is or may become
 * valid.
 */
export function problemOf(state: PeerState): PeerError | undefined {
  if (state === 'invalid') return new PeerError('invalid', 'the relay does not know these tokens')
  if (state === 'timed out') return new PeerError('session timed out', 'the host of the session is silent')
  if (state === 'error')
    return new PeerError('error', 'the relay refuses: there is a host already, or the user is here in the other role')
  return undefined
}
