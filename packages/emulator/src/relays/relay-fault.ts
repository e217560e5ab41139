/**
 * A fault of a relay session.
 * - `never ready`: the session never becomes ready.
 * - `no tokens`: the session is shown as ready, but without tokens.
 * - `token of another`: each user is shown with the token of another user, if there is one.
 */
export type RelayFault = 'never ready' | 'no tokens' | 'token of another'
