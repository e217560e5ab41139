import type { CallOptions } from '@muster/core'
import type { CreateRelaySession, RelaySession, RelaySessionOfUser } from '@muster/core/api'
import type { AuthorizeRelayUser, RelaySessionId, RelaySessionList, RevokeRelayUser } from '@muster/core/internal'

/** The operations used of the service; `client.relays` provides them. */
export interface RelayService {
  create(input: CreateRelaySession, options?: CallOptions): Promise<RelaySession>
  list(input?: Readonly<Record<string, never>>, options?: CallOptions): Promise<RelaySessionList>
  get(input: RelaySessionId, options?: CallOptions): Promise<RelaySession>
  delete(input: RelaySessionId, options?: CallOptions): Promise<unknown>
  authorizeUser(input: AuthorizeRelayUser, options?: CallOptions): Promise<RelaySessionOfUser>
  revokeUser(input: RevokeRelayUser, options?: CallOptions): Promise<unknown>
}
