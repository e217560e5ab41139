/**
 * What can go wrong with a relay session: it is never ready, it says that it is and has no tokens, or it
 * shows each user with the token of another, if there is one.
 */
export type RelayFault = 'never ready' | 'no tokens' | 'token of another'
