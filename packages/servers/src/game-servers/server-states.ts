// pure: the states of a game server, as data

/**
 * The state of a game server, as operators see it:
 *
 *   STARTING ──registers──▶ IDLE ──claimed──▶ TAKEN ──accepts──▶ PLAYING ──over──▶ IDLE
 *      │                      │                 │                    │
 *      ▼ failed               └────────┬────────┴────────┬───────────┘
 *    FAILED                            ▼ silent          ▼ surplus, reuse, update, its own wish
 *                                    LOST             DRAINING ──empty──▶ STOPPING ──confirmed──▶ GONE
 */
export type ServerState =
  'STARTING' | 'IDLE' | 'TAKEN' | 'PLAYING' | 'DRAINING' | 'LOST' | 'STOPPING' | 'GONE' | 'FAILED'

interface StateFacts {
  readonly meaning: string
  /** The states that may follow, and by what. */
  readonly next: Partial<Readonly<Record<ServerState, string>>>
}

/** All states of a game server. docs/servers.md has the same table, and a test holds them equal. */
export const SERVER_STATES: Readonly<Record<ServerState, StateFacts>> = {
  STARTING: {
    meaning: 'its deployment is requested or boots; it has not registered yet',
    next: {
      IDLE: 'registers, without a match',
      TAKEN: 'registers, with a match that waits for it',
      DRAINING: 'registers although it is not wanted any more',
      STOPPING: 'its match ended, it is surplus, or stopped by an operator',
      FAILED: 'its deployment failed, or it did not register in time',
      GONE: 'its create was never sent, or created nothing',
    },
  },
  IDLE: {
    meaning: 'registered, without a match: a match may take it',
    next: {
      TAKEN: 'a match takes it',
      PLAYING: 'lists itself for players',
      DRAINING: 'surplus, retired, replaced by a new version, unhealthy, or it drains by itself',
      LOST: 'silent for 25 s',
      STOPPING: 'stopped by an operator',
      GONE: 'its deployment ended',
    },
  },
  TAKEN: {
    meaning: 'a match is offered to it, and it has not said that players may come',
    next: {
      PLAYING: 'says that players may come',
      IDLE: 'the match ended before, or went to another server',
      DRAINING: 'refused the match, or did not answer in time',
      LOST: 'silent for 25 s',
      STOPPING: 'its only match ended, or stopped by an operator',
      GONE: 'its deployment ended',
    },
  },
  PLAYING: {
    meaning: 'players of at least one match may be on it, or it is listed',
    next: {
      IDLE: 'its last match is over, or it is not listed any more; it may serve another',
      TAKEN: 'its process restarted, and the match is offered again',
      DRAINING: 'no match comes any more; those on it are played to their end',
      LOST: 'silent for 25 s; its matches are left alone',
      STOPPING: 'its last match is over, and it serves no other, or stopped by an operator',
      GONE: 'its deployment ended',
    },
  },
  DRAINING: {
    meaning: 'gets no match any more',
    next: {
      STOPPING: 'its last match is over, or its time is, or stopped by an operator',
      LOST: 'silent for 25 s',
      GONE: 'its deployment ended',
    },
  },
  LOST: {
    meaning: 'has been silent for 25 s while Muster could hear it',
    next: {
      IDLE: 'heard again, without a match',
      TAKEN: 'heard again, with a match that it has not accepted',
      PLAYING: 'heard again, with its matches',
      DRAINING: 'heard again, and not wanted any more',
      STOPPING: 'silent for 60 s more without a match, its match ended, or stopped by an operator',
      GONE: 'its deployment ended',
    },
  },
  STOPPING: {
    meaning: 'its stop is requested, until the deployment service confirms it',
    next: { GONE: 'the stop is confirmed' },
  },
  GONE: { meaning: 'its deployment is gone', next: {} },
  FAILED: {
    meaning: 'its deployment failed; it is stopped',
    next: { STOPPING: 'its stop is requested', GONE: 'it was gone already' },
  },
}

/** Why a server takes no match any more. */
export type DrainReason =
  'own-wish' | 'unhealthy' | 'refused' | 'surplus' | 'retired' | 'update' | 'operator' | 'silent'
