import { Problem, type Caller } from '@muster/core/http'
import type { PlayerProfile } from './profiles/profile.js'

/** A caller of the ticket API. */
export interface TicketCaller extends Caller {
  /** The player's id; of a backend, any name. */
  readonly id: string
  /**
   * A `player` (default) sees and changes only what is their own, and plays from the address that the request comes
   * from. A `backend` is trusted: it acts for any player, says where they are, and no limit counts its requests.
   */
  readonly role?: 'player' | 'backend' | undefined
  /** What is known of a player, from claims in their token for example. It is believed. */
  readonly profile?: PlayerProfile | undefined
}

export const isBackend = (caller: TicketCaller): boolean => caller.role === 'backend'

/** @throws {Problem} 403 */
export function assertBackend(caller: TicketCaller): void {
  if (!isBackend(caller)) throw new Problem(403, 'backend-only', 'only a trusted backend may do this')
}
