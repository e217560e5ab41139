import { relayState, type RelayState } from '../relay-data/packet.js'
import { PeerError } from './peer-error.js'

/**
 * How a peer stands with the relay.
 * - `disconnected`: not connected yet, closed, or without an answer for too long.
 * - `checking`: the relay has yet to decide.
 * - `valid`: data passes.
 * - `invalid`: the relay does not know these tokens, or does not any more.
 * - `timed out`: the host is silent; it may come back.
 * - `error`: the relay refuses.
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

/** Why the relay will not have a peer that it says this of; undefined where it may yet, or does. */
export function problemOf(state: PeerState): PeerError | undefined {
  if (state === 'invalid') return new PeerError('invalid', 'the relay does not know these tokens')
  if (state === 'timed out') return new PeerError('session timed out', 'the host of the session is silent')
  if (state === 'error')
    return new PeerError('error', 'the relay refuses: there is a host already, or the user is here in the other role')
  return undefined
}
