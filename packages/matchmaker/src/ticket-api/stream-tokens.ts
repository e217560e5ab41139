import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Clock } from '@muster/core/clock'
import { z } from 'zod'

export interface StreamTokenOptions {
  /**
   * Secret of at least 32 characters or bytes. Processes that share it accept each other's tokens. Default: a random
   * secret of this process.
   */
  readonly key?: string | Uint8Array | undefined
  /** Milliseconds for which a token can open streams. Default 300,000. */
  readonly lifetimeMs?: number | undefined
}

/** What a token permits: reading the events of one ticket, as its player sees it. */
export interface StreamGrant {
  /** The ticket's id as the player sees it; see `seatId`. */
  readonly ticketId: string
  readonly playerId: string
}

/** Short-lived tokens in the URL, each for one ticket, for browsers, whose `EventSource` cannot send headers. */
export interface StreamTokens {
  issue(grant: StreamGrant): { readonly token: string; readonly expiresAt: number }
  /** What a token permits; undefined for a token that is expired or not valid. */
  read(token: string): StreamGrant | undefined
}

/** Most characters of a token: more than a token with the longest ids has. */
export const LONGEST_TOKEN = 2048

const payloadSchema = z.tuple([z.string(), z.string(), z.number()])

export function createStreamTokens(
  { key = randomBytes(32), lifetimeMs = 300_000 }: StreamTokenOptions,
  clock: Clock,
): StreamTokens {
  const macOf = (payload: string) => createHmac('sha256', key).update(`muster-stream-1 ${payload}`).digest()
  return {
    issue: ({ ticketId, playerId }) => {
      const expiresAt = Math.floor(clock.now() + lifetimeMs)
      const payload = Buffer.from(JSON.stringify([ticketId, playerId, expiresAt])).toString('base64url')
      return { token: `${payload}.${macOf(payload).toString('base64url')}`, expiresAt }
    },
    read: (token) => {
      const [payload = '', mac = '', ...more] = token.length > LONGEST_TOKEN ? [] : token.split('.')
      const [given, wanted] = [Buffer.from(mac, 'base64url'), macOf(payload)]
      if (more.length > 0 || given.length !== wanted.length || !timingSafeEqual(given, wanted)) return undefined
      // The signature proves that this API wrote the payload.
      const [ticketId, playerId, expiresAt] = payloadSchema.parse(
        JSON.parse(Buffer.from(payload, 'base64url').toString()),
      )
      return clock.now() < expiresAt ? { ticketId, playerId } : undefined
    },
  }
}
