import { Problem, type Caller } from '@muster/core/http'
import type { PlayerProfile } from './profiles/profile.js'

/** A caller of the ticket API. */
export interface TicketCaller extends Caller {
  /** The player's id; for a backend, any name. */
  readonly id: string
  /**
   * A `player` (default) sees and changes only their own tickets and groups, and plays from the address of the request.
   * A `backend` is trusted: it acts for any player, states the player's address, and no limit counts its requests.
   */
  readonly role?: 'player' | 'backend' | undefined
  /** What is known of the player, for example from claims in the token. It is trusted. */
  readonly profile?: PlayerProfile | undefined
}

/** The player who calls; undefined for a backend, which does not speak for a player of its own. */
export const playerOf = (caller: TicketCaller): string | undefined => (isBackend(caller) ? undefined : caller.id)

export const isBackend = (caller: TicketCaller): boolean => caller.role === 'backend'

/**
 * Refuses callers that are no backend.
 * @throws {Problem} 403
 */
export function assertBackend(caller: TicketCaller): void {
  if (!isBackend(caller)) throw new Problem(403, 'backend-only', 'only a trusted backend may do this')
}
