// pure: why a command is refused
/** Code for programs → sentence for people. */
export const refusals = {
  /**
   * The same answer for a wrong code, a full or a private lobby, and all else, so that it does not tell which codes
   * exist.
   */
  'not-joinable':
    'no lobby can be joined in this way: the code may be wrong, or the lobby full, private, started or closed to you',
  'no-such-lobby': 'there is no such lobby, or it is not yours to see',
  away: 'you have been away: join again to take your slot',
  'lobby-closed': 'the lobby is closed',
  'not-host': 'only the host may do this',
  'lobby-full': 'the lobby is full',
  'no-such-player': 'there is no such player in the lobby',
  'own-player': 'the host cannot do this to themselves',
  'stale-version': 'the data has changed since that version',
  'data-too-large': 'the lobby or member would have too much data',
  'not-ready': 'not all players are ready',
  'already-started': 'the lobby has been started already',
  'not-started': 'the lobby has not been started',
  leased: 'another process sees to this lobby',
} as const

export type RefusalCode = keyof typeof refusals

export interface Refusal {
  readonly refused: RefusalCode
}

export const refuse = (refused: RefusalCode): Refusal => ({ refused })
