import type { Clock } from '@muster/core/clock'
import { z } from 'zod'

/** The role of a peer: the host exchanges data with every client, a client with the host alone. */
export type PeerRole = 'host' | 'client'

/**
 * Options of a peer. A player's credentials, as a lobby or `credentialsFor` of `@muster/relay` returns them, are valid
 * options.
 */
export interface PeerOptions {
  /** The relay's address or name: `relay.ip` or `relay.host`. */
  readonly host: string
  /** The relay's port: `relay.ports.server` for the host, `relay.ports.client` for a client. */
  readonly port: number
  readonly role: PeerRole
  /** The user's authorization_token. Never another user's. */
  readonly userToken: number
  /** The session's authorization_token. */
  readonly sessionToken: number
  /** The transport protocol. Only UDP is supported; it is also the only value sampled. */
  readonly protocol?: string | undefined
  /** The session's id, which credentials contain. Not used. */
  readonly sessionId?: string | undefined
  readonly ip?: string | undefined
  readonly link?: string | undefined
  /** The clock. Default: the machine's. */
  readonly clock?: Clock | undefined
  /** Milliseconds between two pings, 100 to 1000 (public fact). Default 500. */
  readonly pingMs?: number | undefined
  /**
   * Milliseconds after which `connect` gives up, and milliseconds of silence after which the relay counts as gone.
   * Default 10,000.
   */
  readonly timeoutMs?: number | undefined
}

const aToken = 'must be an unsigned 32-bit integer'
const token = z.int(aToken).min(0, aToken).max(0xffff_ffff, aToken)

export const PeerOptions: z.ZodType<PeerOptions> = z.strictObject({
  host: z.string().min(1),
  port: z.int().min(1).max(65_535),
  role: z.enum(['host', 'client']),
  userToken: token,
  sessionToken: token,
  protocol: z.string().regex(/^udp$/i, 'must be UDP').optional(),
  sessionId: z.string().optional(),
  ip: z.string().optional(),
  link: z.string().optional(),
  clock: z
    .custom<Clock>(
      (clock) => typeof clock === 'object' && clock !== null && 'now' in clock && 'sleep' in clock,
      'must be a Clock',
    )
    .optional(),
  pingMs: z.number().min(100).max(1000).optional(),
  timeoutMs: z.number().positive().optional(),
})
