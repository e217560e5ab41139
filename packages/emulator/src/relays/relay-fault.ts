/** What can go wrong with a relay session: it is never ready, or it says that it is and has no tokens. */
export type RelayFault = 'never ready' | 'no tokens'
