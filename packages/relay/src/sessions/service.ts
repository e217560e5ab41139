import type { CallOptions } from '@muster/core'
import type {
  AuthorizeRelayUser,
  CreateRelaySession,
  RelaySession,
  RelaySessionId,
  RelaySessionList,
  RelaySessionOfUser,
  RevokeRelayUser,
} from '@muster/core/api'

/** The operations used of the service; `client.relays` provides them. */
export interface RelayService {
  create(input: CreateRelaySession, options?: CallOptions): Promise<RelaySession>
  list(input?: Readonly<Record<string, never>>, options?: CallOptions): Promise<RelaySessionList>
  get(input: RelaySessionId, options?: CallOptions): Promise<RelaySession>
  delete(input: RelaySessionId, options?: CallOptions): Promise<unknown>
  authorizeUser(input: AuthorizeRelayUser, options?: CallOptions): Promise<RelaySessionOfUser>
  revokeUser(input: RevokeRelayUser, options?: CallOptions): Promise<unknown>
}
