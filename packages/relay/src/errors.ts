import { MusterError } from '@muster/core'
import { type CallFacts, nameErrors } from '@muster/core/internal'
import { type RefusalCode, refusals } from './lobby-rules.js'

const lobbyRefusals = {
  ...refusals,
  'too-many-attempts': 'Too many attempts. Wait and retry.',
  'too-many-lobbies': 'The player is in too many lobbies, and must leave one first.',
  busy: 'Too many commands at once. Retry.',
} as const

/** Why a command is refused: a rule of the lobby, or a limit. */
export type LobbyRefusalCode = RefusalCode | 'too-many-attempts' | 'too-many-lobbies' | 'busy'

/** Why a session could not be used. */
export type NotReadyReason = 'not ready in time' | 'in error' | 'without relay or tokens' | 'gone'

/** Two relay sessions in a row did not become ready. Both were deleted, or will be by later ticks. */
export class RelayNotReady extends MusterError {
  declare readonly reason: NotReadyReason
  /** The id of the second session. */
  declare readonly sessionId: string

  constructor(message: string, facts: CallFacts & { readonly reason: NotReadyReason; readonly sessionId: string }) {
    super(message, facts)
  }
}

/** The service did not admit a player to a session, or returned no token that belongs to this player alone. */
export class RelayNotAuthorized extends MusterError {
  declare readonly sessionId: string

  constructor(message: string, facts: CallFacts & { readonly sessionId: string }) {
    super(message, facts)
  }
}

/** A token could not be confirmed to be invalid. To be sure, delete the session. */
export class RelayNotRevoked extends MusterError {
  declare readonly sessionId: string

  constructor(message: string, facts: CallFacts & { readonly sessionId: string }) {
    super(message, facts)
  }
}

/** `close` timed out: these sessions may still exist and cost money. */
export class RelayNotDeleted extends MusterError {
  declare readonly sessionIds: readonly string[]

  constructor(message: string, facts: CallFacts & { readonly sessionIds: readonly string[] }) {
    super(message, facts)
  }
}

/** A player already hosts as many relay sessions as the option `sessionsPerHost` allows. */
export class TooManyRelaySessions extends MusterError {
  /** Maximum number of sessions that one player may host at a time. */
  declare readonly limit: number

  constructor(message: string, facts: CallFacts & { readonly limit: number }) {
    super(message, facts)
  }
}

/** The sessions or lobbies were closed. */
export class RelayClosed extends MusterError {}

/** A lobby refused a command. */
export class LobbyRefused extends MusterError {
  /** The reason, for programs. */
  declare readonly code: LobbyRefusalCode
  /** Milliseconds after which the command may be retried. */
  declare readonly retryAfterMs?: number

  constructor(code: LobbyRefusalCode, facts: CallFacts & { readonly retryAfterMs?: number } = {}) {
    super(lobbyRefusals[code], Object.assign({ code }, facts))
  }
}

nameErrors({
  RelayNotReady,
  RelayNotAuthorized,
  RelayNotRevoked,
  RelayNotDeleted,
  TooManyRelaySessions,
  RelayClosed,
  LobbyRefused,
})
