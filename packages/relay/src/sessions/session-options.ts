import { randomInt } from 'node:crypto'
import type { Filter } from '@muster/core/api'
import { systemClock, type Clock } from '@muster/core/clock'
import { callable, having } from '@muster/core/internal'
import { z } from 'zod'
import type { RandomInt } from '../random-text.js'
import { checked, clock, count, milliseconds, player, playerId } from '../validate.js'
import { LABEL, type RelayService } from './session-context.js'
import type { RelayPlayer } from './session.js'

export interface RelaySessionsOptions {
  /** `client.relays` of `@muster/core`. */
  readonly client: RelayService
  /**
   * Name of the backend: the same for all its processes, and different from other backends on the account. It
   * identifies sessions whose process is gone. Letters, digits and `-`. Default `muster`.
   */
  readonly owner?: string | undefined
  /**
   * Public URL at which `webhook` is mounted, e.g. `https://game.example/relay-hooks`. Default: none. Sessions then
   * have a URL that leads nowhere (under `muster.invalid`) and only identifies them.
   */
  readonly webhookBaseUrl?: string | undefined
  /** Milliseconds within which a session must become ready. Default 45,000. */
  readonly readyTimeoutMs?: number | undefined
  /** Milliseconds before the first read of a new session; each further wait is half as long again. Default 1,000. */
  readonly pollMs?: number | undefined
  /** Maximum milliseconds between two reads. Default 5,000. */
  readonly maxPollMs?: number | undefined
  /** Milliseconds for one call to the service, including queueing and retries. Default 15,000. */
  readonly callTimeoutMs?: number | undefined
  /**
   * Milliseconds after which an unanswered create can no longer take effect. Until then, its session is searched for,
   * even by `close`. Default 15,000.
   */
  readonly settleMs?: number | undefined
  /**
   * Milliseconds without any call for a session, such as `keepAlive`, after which it is deleted; null for never.
   * Sessions are billed while they exist. A lobby's session ends with its lobby instead. Default 600,000.
   */
  readonly idleMs?: number | null | undefined
  /**
   * Milliseconds after which a session is deleted even if it is in use. A lobby's session ends with its lobby instead.
   * Default 14,400,000 (4 hours).
   */
  readonly maxLifetimeMs?: number | undefined
  /**
   * Maximum number of sessions in this process's ledger that one player may host at a time; null for no limit. Sessions
   * of lobbies count only while they are being opened, because lobbies have their own limits. Default 10.
   */
  readonly sessionsPerHost?: number | null | undefined
  /** Milliseconds between two ticks while there are sessions. Default 10,000. */
  readonly tickMs?: number | undefined
  readonly clock?: Clock | undefined
  /** Default `crypto.randomInt`. */
  readonly randomInt?: RandomInt | undefined
}

const httpUrl = z
  .url({ protocol: /^https?$/, error: 'must be an http or https URL' })
  .refine((url) => !/[?#]/.test(url), { error: 'must have neither query nor fragment' })

const optionsSchema = z.strictObject({
  client: having<RelayService>('create', 'list', 'get', 'delete', 'authorizeUser', 'revokeUser'),
  owner: z
    .string()
    .regex(/^[A-Za-z0-9-]{1,40}$/, 'must be 1 to 40 letters, digits and -')
    .default('muster'),
  // A top-level domain in which no name ever resolves (RFC 6761).
  webhookBaseUrl: httpUrl.default('https://muster.invalid/relay'),
  readyTimeoutMs: milliseconds.default(45_000),
  pollMs: milliseconds.default(1000),
  maxPollMs: milliseconds.default(5000),
  callTimeoutMs: milliseconds.default(15_000),
  settleMs: milliseconds.default(15_000),
  idleMs: milliseconds.nullable().default(600_000),
  maxLifetimeMs: milliseconds.default(14_400_000),
  sessionsPerHost: count.nullable().default(10),
  tickMs: milliseconds.default(10_000),
  clock: clock.default(systemClock),
  randomInt: callable<RandomInt>().default(() => (max: number) => randomInt(max)),
})

export type RelaySessionsConfig = Readonly<z.output<typeof optionsSchema>>

/**
 * Validates the options of relay sessions, and fills in defaults. @throws {InvalidInput} naming the option and its
 * value.
 */
export const configure = (options: RelaySessionsOptions): RelaySessionsConfig =>
  checked(optionsSchema, options, 'createRelaySessions: option')

export interface OpenRelaySession {
  /** The players, without duplicates: an id of the caller's choice, and the source address of the player's packets. */
  readonly players: readonly { readonly id: string; readonly ip: string }[]
  /** The player whose peer hosts. Default the first. */
  readonly hostId?: string | undefined
  /** Restricts the location of the relay; passed on to the service. */
  readonly filters?: readonly Filter[] | undefined
  /** Name of the session in lists. Up to 80 letters, digits, `_.~-`. */
  readonly label?: string | undefined
}

export interface SessionOpening {
  readonly players: readonly RelayPlayer[]
  readonly hostId: string
  readonly filters: readonly Filter[]
  readonly label: string | undefined
}

const openSchema = z
  .strictObject({
    players: z.array(player).min(1),
    hostId: playerId.optional(),
    filters: z
      .array(
        z.strictObject({
          field: z.string().min(1),
          values: z.array(z.string()).min(1),
          filter_type: z.string().min(1),
        }),
      )
      .default([]),
    label: z
      .string()
      .regex(LABEL, 'must be 1 to 80 letters, digits and _.~- and begin with a letter or digit')
      .optional(),
  })
  .superRefine(({ players, hostId }, context) => {
    const ids = players.map(({ id }) => id)
    const twice = ids.findIndex((id, index) => ids.indexOf(id) !== index)
    if (twice !== -1) context.addIssue({ code: 'custom', path: ['players', twice, 'id'], message: 'is listed twice' })
    if (hostId !== undefined && !ids.includes(hostId))
      context.addIssue({ code: 'custom', path: ['hostId'], message: 'must be one of the players' })
  })

/** Validates the input of a session to open. @throws {InvalidInput} naming the field. */
export function openingOf(input: OpenRelaySession): SessionOpening {
  const { players, hostId, filters, label } = checked(openSchema, input, 'relay session: input')
  return { players, hostId: hostId ?? (players[0]?.id as string), filters, label }
}

/** Validates a player. @throws {InvalidInput} naming the field. */
export const playerOf = (given: { readonly id: string; readonly ip: string }) =>
  checked(player, given, 'relay session: player')
