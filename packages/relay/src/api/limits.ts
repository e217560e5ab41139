import type { AttemptLimit, BodyLimits } from '@muster/core/http'
import { z } from 'zod'
import { checked, count, milliseconds } from '../validate.js'

/**
 * Limits of a lobby API's clients; null for no limit. `limitStore` counts requests and lists; open streams and bodies
 * are those of the process.
 */
export interface LobbyApiLimits {
  /** Requests of one caller. Default 50 per 5 seconds. */
  readonly perCaller?: AttemptLimit | null | undefined
  /** Requests from one address; of IPv6, from one /64. Default 250 per 5 seconds. */
  readonly perAddress?: AttemptLimit | null | undefined
  /** Requests of one caller for the list of public lobbies. Default 20 per 10 seconds. */
  readonly listsPerCaller?: AttemptLimit | null | undefined
  /** Long polls and event streams that one caller may have open; one more ends the oldest. Default 8. */
  readonly streamsPerCaller?: number | undefined
  /**
   * Long polls and event streams of all callers; more are refused. Default 50,000, for which the process needs as many
   * file descriptors.
   */
  readonly streams?: number | undefined
  /**
   * Bytes of a request's body. Default 32 KiB: a create with as much data as allowed, at three bytes a character, has
   * about 25 KB.
   */
  readonly bodyBytes?: number | undefined
  /** How long bodies may take, and how many may be unfinished. */
  readonly bodies?: BodyLimits | undefined
}

const attempts = (limit: number, windowMs: number) =>
  z
    .strictObject({ limit: z.number().min(1), windowMs: milliseconds })
    .nullable()
    .default({ limit, windowMs })

const schema = z
  .strictObject({
    perCaller: attempts(50, 5000),
    perAddress: attempts(250, 5000),
    listsPerCaller: attempts(20, 10_000),
    streamsPerCaller: count.default(8),
    streams: count.default(50_000),
    bodyBytes: count.default(32 * 1024),
    bodies: z
      .strictObject({ timeoutMs: milliseconds.optional(), perAddress: count.optional(), inAll: count.optional() })
      .optional(),
  })
  .prefault({})

/** @throws {InvalidInput} naming the limit and its value. */
export const checkLimits = (limits: LobbyApiLimits | undefined) =>
  checked(schema, limits, 'createLobbyApi: option limits')
