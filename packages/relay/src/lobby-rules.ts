// pure: durations of a lobby; reasons for refusing a command
/** Durations in milliseconds, all configurable. */
export interface LobbyRules {
  /** Silence after which a member counts as away. Default 30,000. */
  readonly awayAfterMs: number
  /** Time for which a member who is away or has left can return to the slot. Default 120,000. */
  readonly holdSlotMs: number
  /** Lifetime of a lobby without present members. Default 60,000. */
  readonly emptyMs: number
  /** Lifetime of an inactive lobby that is not running. Default 600,000. */
  readonly idleMs: number
  /** Maximum lifetime of any lobby. Default 14,400,000 (4 hours). */
  readonly maxLifetimeMs: number
  /** Time for which an applicant waits for the host, and duration of a denial. Default 60,000. */
  readonly applicantMs: number
  /** Silence of the process that manages a run after which another process takes over. Default 30,000. */
  readonly leaseMs: number
  /** Time for which a closed lobby can still be read. Default 30,000. */
  readonly lingerMs: number
}

/** The durations of a lobby, as one process applies them. */
export interface LobbyTimes extends LobbyRules {
  /**
   * Epoch milliseconds before which no silence counts, because this process could not receive requests. Default: none.
   */
  readonly upSince?: number | undefined
}

export const defaultRules: LobbyRules = {
  awayAfterMs: 30_000,
  holdSlotMs: 120_000,
  emptyMs: 60_000,
  idleMs: 600_000,
  maxLifetimeMs: 14_400_000,
  applicantMs: 60_000,
  leaseMs: 30_000,
  lingerMs: 30_000,
}

/** Codes for programs, with their sentences for people. */
export const refusals = {
  /** One refusal for every reason, e.g. a wrong code or a full lobby, so that it does not reveal which codes exist. */
  'not-joinable':
    'no lobby can be joined in this way: the code may be wrong, or the lobby full, private, started or closed to you',
  'no-such-lobby': 'there is no such lobby, or it is not yours to see',
  away: 'you have been away: join again to take your slot',
  'lobby-closed': 'the lobby is closed',
  'not-host': 'only the host may do this',
  'lobby-full': 'the lobby is full',
  'no-such-player': 'there is no such player in the lobby',
  'own-player': 'the host cannot do this to themselves',
  'stale-version': 'the data has changed since the version in the request',
  'data-too-large': 'the data of the lobby or the member would be too large',
  'not-ready': 'not all players are ready',
  'already-started': 'the lobby has been started already',
  'not-started': 'the lobby has not been started',
  leased: 'another process handles this lobby',
} as const

export type RefusalCode = keyof typeof refusals

export interface LobbyRefusal {
  readonly refused: RefusalCode
}

export const refuse = (refused: RefusalCode): LobbyRefusal => ({ refused })
