/**
 * The problem of a peer.
 * - `invalid`: the relay does not know the tokens, or knows them no longer.
 * - `session timed out`: the host was connected and is silent.
 * - `error`: the relay has refused the peer, because another host is connected, or the user in another role.
 * - `no answer`: the relay was silent, or went on checking, for too long.
 * - `unreachable`: the host name does not exist, or there is no route to it.
 * - `not valid`: data cannot be sent in this state.
 * - `closed`: the peer was closed by `close` before it was connected.
 */
export type PeerProblem =
  'invalid' | 'session timed out' | 'error' | 'no answer' | 'unreachable' | 'not valid' | 'closed'

/** Why a peer could not connect or send. */
export class PeerError extends Error {
  override readonly name = 'PeerError'
  readonly problem: PeerProblem

  constructor(problem: PeerProblem, message: string, options?: ErrorOptions) {
    super(message, options)
    this.problem = problem
  }
}
