import type { EventEmitter } from 'eventemitter3'
import type { OpenedSession, ReadySession, RelayCredentials, RelaySession } from './session.js'
import type { RelaySessionEvents } from './session-context.js'
import type { OpenRelaySession } from './session-options.js'
import type { ListedSession, OrphanOptions, ReapedOrphans } from './orphans.js'

export interface WaitOptions {
  readonly signal?: AbortSignal | undefined
}

export interface RelaySessions {
  /** Creates a session and waits until it is ready. If the signal is aborted meanwhile, the session is deleted. */
  open(input: OpenRelaySession, options?: WaitOptions): Promise<ReadySession>
  /** Creates a session, which is not ready yet. */
  create(input: OpenRelaySession, options?: WaitOptions): Promise<OpenedSession>
  /**
   * Waits until the session is ready, i.e. has `ready`, a relay and tokens for all players. If it is not ready in time,
   * it is deleted and another one is tried, so the result may have another id. The signal ends only the wait.
   * @throws {RelayNotReady} if the second session is not ready either
   */
  awaitReady(sessionId: string, options?: WaitOptions): Promise<ReadySession>
  /**
   * Reads a session of this process's ledger. Once it is ready, its seats stay as they are.
   * @throws {NotFound} for a session that is not in the ledger, or does not exist at the service any more.
   */
  get(sessionId: string): Promise<RelaySession>
  /** Lists the active sessions of the whole account, as the service returns them. */
  list(): AsyncIterable<ListedSession>
  /** Deletes a session. If the service does not confirm it now, ticks retry. */
  delete(sessionId: string): Promise<void>
  /**
   * Admits one more player. A player who is in the session with another address gets a new token and loses the old one.
   * @throws {RelayNotAuthorized}
   */
  authorize(sessionId: string, player: { readonly id: string; readonly ip: string }): Promise<ReadySession>
  /**
   * Removes a player, and reads the session until the token is gone. If that cannot be confirmed, the session is
   * replaced by one without the player, so the result may have another id.
   */
  revoke(sessionId: string, playerId: string, options?: WaitOptions): Promise<ReadySession>
  /**
   * Revokes the tokens that are `spent`, and confirms it.
   * @throws {RelayNotRevoked} if that cannot be confirmed.
   */
  revokeSpent(sessionId: string): Promise<ReadySession>
  /**
   * Returns the credentials of one player, and nothing of other players.
   * @throws {NotFound} for a session that is unknown or not ready, and for a player who is not in it
   */
  credentialsFor(sessionId: string, playerId: string): RelayCredentials
  /** Records that the session is in use. */
  keepAlive(sessionId: string): void
  /** Adds a session to this process's ledger, e.g. from another process or a store. */
  adopt(session: ReadySession): void
  /**
   * Removes a session from the ledger, because another process will end it. A session that is being deleted stays until
   * that is done.
   */
  release(sessionId: string): void
  /**
   * Deletes sessions of this `owner` that belong to nobody, e.g. after a crash. Deletions that the service does not
   * confirm are retried by this call and by ticks.
   */
  reapOrphans(options?: OrphanOptions): Promise<ReapedOrphans>
  /**
   * Deletes sessions of this `owner` with this label, unless this process knows them: leftovers of a process that was
   * about to open them.
   */
  deleteLabelled(label: string): Promise<void>
  /**
   * Deletes sessions that are idle or too old, and retries failed deletions. Called every `tickMs` while there are
   * sessions.
   */
  tick(): Promise<void>
  /** Handles the service's webhooks. Mount it at `webhookBaseUrl`. Only the last three parts of the path matter. */
  webhook(request: Request): Promise<Response>
  readonly events: EventEmitter<RelaySessionEvents>
  /**
   * Ends all waits and deletes all sessions of the ledger, including those in doubt.
   * @throws {RelayNotDeleted} if that takes longer than `timeoutMs` (default 60,000).
   */
  close(options?: { readonly timeoutMs?: number | undefined }): Promise<void>
}
