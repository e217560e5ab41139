import type { Assignment } from './state.js'

/** The responses of the ticket API, limited to what the client reads (docs/ticket-api.openapi.json). */
export interface WireTicket {
  readonly id: string
  readonly profile: string
  readonly status: 'SEARCHING' | 'MATCH_FOUND' | 'HOST_ASSIGNED' | 'CANCELLED'
  readonly version: number
  readonly group_id?: string | null
  readonly match_id?: string | null
  readonly assignment?: WireAssignment | null
  readonly acceptance?: { readonly until: string; readonly accepted: boolean } | null
  readonly cancel_reason?: string | null
  readonly ended?: { readonly reason: string } | null
  readonly estimated_wait?: { readonly p50_seconds: number; readonly p90_seconds?: number | null } | null
}

export interface WireAssignment {
  readonly fqdn: string
  readonly ports: Assignment['ports']
  readonly location?: { readonly city?: string | null } | null
  readonly join_token?: string | null
}

export interface WireMember {
  readonly group_id: string
  readonly member_id: string
  readonly is_ready: boolean
  readonly status: 'FORMING' | WireTicket['status']
  readonly ticket_id?: string | null
}

export interface WireGroup {
  readonly status: WireMember['status']
  readonly members: readonly { readonly player_id: string; readonly is_ready: boolean }[]
}

export interface WireSeat {
  readonly seat_id: string
  readonly status: 'starting' | 'held' | 'taken' | 'away'
  readonly assignment: WireAssignment | null
}

export interface WirePlayer {
  readonly tickets: readonly WireTicket[]
  readonly groups: readonly WireMember[]
  readonly matches: readonly { readonly match_id: string; readonly assignment: WireAssignment | null }[]
  readonly seats?: readonly WireSeat[]
}

export const assignmentOf = ({ fqdn, ports, location, join_token }: WireAssignment): Assignment => ({
  fqdn,
  ports,
  joinToken: join_token ?? null,
  city: location?.city ?? null,
})
