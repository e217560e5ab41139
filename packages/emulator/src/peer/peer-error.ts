/**
 * - `invalid`: the relay knows no such tokens, or does not any more.
 * - `session timed out`: the host was there and is silent.
 * - `error`: the relay has refused, because another host is there, or the user in another role.
 * - `no answer`: the relay was silent, or went on checking, for too long.
 * - `unreachable`: there is no such host name, or no way there.
 * - `not valid`: data cannot be sent in this state.
 * - `closed`: by `close`, before it was connected.
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
