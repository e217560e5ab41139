import type { EventEmitter } from 'eventemitter3'
import type { RelayCredentials } from './credentials.js'
import type { RelaySessionEvents } from './session-context.js'
import type { OpenRelaySession } from './options.js'
import type { ListedSession, OrphanOptions, ReapedOrphans } from './orphans.js'
import type { OpenedSession, ReadySession, RelaySession } from './session.js'

export interface WaitOptions {
  readonly signal?: AbortSignal | undefined
}

export interface RelaySessions {
  /** Creates a session and waits until it is ready. If the signal is aborted meanwhile, nothing is left of it. */
  open(input: OpenRelaySession, options?: WaitOptions): Promise<ReadySession>
  /** Creates a session, which is not ready yet. */
  create(input: OpenRelaySession, options?: WaitOptions): Promise<OpenedSession>
  /**
   * Waits until the session is ready: by `ready`, relay and tokens for all. One that is not in time is
   * deleted and another one tried, so what comes back may have another id. The signal ends the wait alone.
   * @throws {RelayNotReady} when the second is not ready either.
   */
  awaitReady(sessionId: string, options?: WaitOptions): Promise<ReadySession>
  /**
   * Reads a session of this process's ledger. Once it is ready, its seats stay as they are.
   * @throws {NotFound} for one that is not in the ledger, or no longer at the service.
   */
  get(sessionId: string): Promise<RelaySession>
  /** The active sessions of the whole account, as the service lists them. */
  list(): AsyncIterable<ListedSession>
  /** If the service does not confirm it now, ticks go on trying. */
  delete(sessionId: string): Promise<void>
  /**
   * Lets one more player in. A player who is in with another address gets a new token, and loses the old one.
   * @throws {RelayNotAuthorized}
   */
  authorize(sessionId: string, player: { readonly id: string; readonly ip: string }): Promise<ReadySession>
  /**
   * Takes a player out, and reads the session until the token is gone. If that cannot be confirmed, the
   * session is replaced by one without the player, so what comes back may have another id.
   */
  revoke(sessionId: string, playerId: string, options?: WaitOptions): Promise<ReadySession>
  /**
   * Revokes the tokens that are `spent`, and confirms it.
   * @throws {RelayNotRevoked} when that cannot be confirmed.
   */
  revokeSpent(sessionId: string): Promise<ReadySession>
  /**
   * What one player needs in order to connect, and nothing of any other's.
   * @throws {NotFound} for a session that is unknown or not ready, and for a player who is not in it.
   */
  credentialsFor(sessionId: string, playerId: string): RelayCredentials
  /** Says that the session is in use. */
  keepAlive(sessionId: string): void
  /** Takes a session into this process's ledger, as another process, or a store, knows it. */
  adopt(session: ReadySession): void
  /**
   * Takes a session out of the ledger: somebody else sees to its end. One that is being deleted stays until that is
   * done.
   */
  release(sessionId: string): void
  /**
   * Deletes sessions of our `owner` that nobody has: after a crash, for instance. What the service does not delete at
   * once is tried again, here and by ticks.
   */
  reapOrphans(options?: OrphanOptions): Promise<ReapedOrphans>
  /**
   * Deletes sessions of our `owner` that are called `label`, unless this process knows them: what a process
   * that was about to open them has left.
   */
  deleteLabelled(label: string): Promise<void>
  /**
   * Deletes what is idle or too old, and tries again what failed before. Called every `tickMs` while there are
   * sessions.
   */
  tick(): Promise<void>
  /**
   * Takes the service's webhooks: mount it at `webhookBaseUrl`. What comes before the last three parts of the path does
   * not matter.
   */
  webhook(request: Request): Promise<Response>
  readonly events: EventEmitter<RelaySessionEvents>
  /**
   * Ends all waits and deletes all sessions of the ledger, also those in doubt.
   * @throws {RelayNotDeleted} when that takes longer than `timeoutMs` (default 60,000).
   */
  close(options?: { readonly timeoutMs?: number | undefined }): Promise<void>
}
