import { randomInt } from 'node:crypto'
import { type Clock, systemClock } from '@muster/core/clock'
import type { AttemptLimit, LimitStore } from '@muster/core/http'
import { callable, having } from '@muster/core/internal'
import { z } from 'zod'
import type { RandomInt } from '../random-text.js'
import type { RelaySessions } from '../sessions/index.js'
import { checked, clock, count, milliseconds, player } from '../validate.js'
import { type Attributes, AttributesSchema } from './lobby.js'
import { createMemoryLobbyStore } from './memory-store.js'
import { defaultRules, type LobbyRules } from '../lobby-rules.js'
import type { LobbyStore } from './store.js'

/** Limits of one player, one address and all players; null for no limit. `LobbiesOptions.limitStore` counts them. */
export interface LobbyLimits {
  /** Maximum number of wrong codes and passwords of a player. Default 10 per minute. */
  readonly joinsPerPlayer?: AttemptLimit | null | undefined
  /** Maximum number of wrong codes and passwords of an address (IPv6: of a /64). Default 30 per minute. */
  readonly joinsPerAddress?: AttemptLimit | null | undefined
  /**
   * Maximum number of wrong codes and passwords of all players. Beyond it, nobody can join by code or password for a
   * moment. Default 1,000 per minute: with 10,000 public lobbies, guesses then hit one every 43 hours.
   */
  readonly joinsOverall?: AttemptLimit | null | undefined
  /** Maximum number of lobbies that one player creates. Default 10 per minute. */
  readonly createsPerPlayer?: AttemptLimit | null | undefined
  /** Maximum number of lobbies that one player is in at a time, present or away. Default 5. */
  readonly lobbiesPerPlayer?: number | null | undefined
  /**
   * Maximum number of relay sessions, or hand-overs to the matchmaker, that one player causes. A start causes one, and
   * so does a change of the host, also by leaving. At the limit, the player can neither start nor change the host until
   * the window has passed. Default 10 per 10 minutes.
   */
  readonly sessionsPerPlayer?: AttemptLimit | null | undefined
  /**
   * Maximum number of relay sessions that the lobbies of all players cause, because one person may have many accounts.
   * Beyond it, nobody can start a lobby or change its host for a moment. Default 3,000 per 10 minutes (our choice).
   */
  readonly sessionsOverall?: AttemptLimit | null | undefined
  /**
   * Maximum number of times that one player is seated in a running relay session: by joining late, coming back, or
   * changing address. Each takes four calls of the service. Default 10 per 5 minutes.
   */
  readonly seatingsPerPlayer?: AttemptLimit | null | undefined
}

export interface LobbiesOptions {
  /** Relay sessions, for lobbies that become one when they start. Give either this or `matchmaker`. */
  readonly relay?: RelaySessions | undefined
  /** The matchmaker that gets the players of a started lobby. */
  readonly matchmaker?: LobbyMatchmaker | undefined
  /** The store of lobbies. Default: memory, for this process only. */
  readonly store?: LobbyStore | undefined
  /** Durations; see `LobbyRules` for the defaults. */
  readonly rules?: { readonly [Rule in keyof LobbyRules]?: LobbyRules[Rule] | undefined } | undefined
  readonly limits?: LobbyLimits | undefined
  /**
   * The store that counts the limits. Default: in memory of this process. The store of `@muster/redis` counts a player
   * across all processes.
   */
  readonly limitStore?: LimitStore | undefined
  /** Milliseconds between two ticks. Default 1,000. */
  readonly tickMs?: number | undefined
  /** Milliseconds between two searches for relay sessions without a lobby; null for never. Default 60,000. */
  readonly reapMs?: number | null | undefined
  readonly clock?: Clock | undefined
  /** Default `crypto.randomInt`. */
  readonly randomInt?: RandomInt | undefined
}

const limit = (most: number, windowMs = 60_000) =>
  z.strictObject({ limit: count, windowMs: milliseconds }).nullable().default({ limit: most, windowMs })

const rules = Object.fromEntries(
  Object.entries(defaultRules).map(([rule, ms]) => [rule, milliseconds.default(ms)]),
) as Record<keyof LobbyRules, z.ZodDefault<z.ZodNumber>>

const optionsSchema = z
  .strictObject({
    relay: having<RelaySessions>('open', 'adopt', 'release', 'authorize', 'revokeSpent', 'delete').optional(),
    matchmaker: having<LobbyMatchmaker>('handOver', 'withdraw').optional(),
    store: having<LobbyStore>(
      'create',
      'get',
      'getByCode',
      'replace',
      'delete',
      'due',
      'listPublic',
      'idsOf',
      'ids',
      'watch',
    ).default(createMemoryLobbyStore),
    rules: z.strictObject(rules).prefault({}),
    limits: z
      .strictObject({
        joinsPerPlayer: limit(10),
        joinsPerAddress: limit(30),
        joinsOverall: limit(1000),
        createsPerPlayer: limit(10),
        lobbiesPerPlayer: count.nullable().default(5),
        sessionsPerPlayer: limit(10, 600_000),
        sessionsOverall: limit(3000, 600_000),
        seatingsPerPlayer: limit(10, 300_000),
      })
      .prefault({}),
    limitStore: having<LimitStore>('attempts').optional(),
    tickMs: milliseconds.default(1000),
    reapMs: milliseconds.nullable().default(60_000),
    clock: clock.default(systemClock),
    randomInt: callable<RandomInt>().default(() => (max: number) => randomInt(max)),
  })
  .refine(({ relay, matchmaker }) => (relay === undefined) !== (matchmaker === undefined), {
    path: ['relay'],
    error: 'is required without matchmaker, and not allowed with it',
  })

export type LobbiesConfig = Readonly<z.output<typeof optionsSchema>>

/** Validates the options of lobbies, and fills in defaults. @throws {InvalidInput} naming the option and its value. */
export const configure = (options: LobbiesOptions): LobbiesConfig =>
  checked(optionsSchema, options, 'createLobbies: option')

/** A player. `ip` is the public source address of the player's packets. */
export interface LobbyPlayer {
  readonly id: string
  readonly ip: string
}

export interface CreateLobby {
  /** The host. */
  readonly player: LobbyPlayer
  /** Maximum number of players, 1 to 64. */
  readonly maxPlayers: number
  /** Whether the lobby is listed. Default public. */
  readonly visibility?: 'public' | 'private' | undefined
  /** The password that players need to join, 1 to 128 characters. */
  readonly password?: string | undefined
  /** Lets the host decide about each join request. Not with a password. Default false. */
  readonly approval?: boolean | undefined
  /** Allows players to join after the start. Default true. */
  readonly lateJoin?: boolean | undefined
  /** Requires all present members except the host to be ready before the start. Default true. */
  readonly requireReady?: boolean | undefined
  readonly data?: Attributes | undefined
  /** The host's own data. */
  readonly memberData?: Attributes | undefined
}

export interface JoinLobby {
  readonly player: LobbyPlayer
  /** Identifies the lobby: by its code, or by the id of a public lobby. */
  readonly code?: string | undefined
  readonly lobbyId?: string | undefined
  readonly password?: string | undefined
  readonly memberData?: Attributes | undefined
}

export interface ListLobbies {
  /** Values that the lobby's data must have. */
  readonly data?: Attributes | undefined
  /** Number of slots that must be free. Default 1. */
  readonly minFree?: number | undefined
  /** Maximum number of lobbies per page, 1 to 100. Default 20. */
  readonly limit?: number | undefined
  /** `next` of the previous page; undefined for the first page. */
  readonly after?: string | undefined
}

const password = z.string().min(1).max(128)

const createSchema = z
  .strictObject({
    player,
    maxPlayers: z.int().min(1).max(64),
    visibility: z.enum(['public', 'private']).default('public'),
    password: password.optional(),
    approval: z.boolean().default(false),
    lateJoin: z.boolean().default(true),
    requireReady: z.boolean().default(true),
    data: AttributesSchema.default({}),
    memberData: AttributesSchema.default({}),
  })
  .refine((input) => !(input.approval && input.password !== undefined), {
    path: ['approval'],
    error: 'must not be set together with a password',
  })

const joinSchema = z
  .strictObject({
    player,
    code: z.string().max(64).optional(),
    lobbyId: z.string().max(64).optional(),
    password: password.optional(),
    memberData: AttributesSchema.default({}),
  })
  .refine((input) => (input.code === undefined) !== (input.lobbyId === undefined), {
    path: ['code'],
    error: 'is required without lobbyId, and not allowed with it',
  })

const listSchema = z.strictObject({
  data: AttributesSchema.default({}),
  minFree: z.int().min(0).max(64).default(1),
  limit: z.int().min(1).max(100).default(20),
  after: z.string().max(128).optional(),
})

export type CheckedJoin = Readonly<z.output<typeof joinSchema>>

export const checkCreate = (input: CreateLobby) => checked(createSchema, input, 'lobby: input')
export const checkJoin = (input: JoinLobby) => checked(joinSchema, input, 'lobby: input')
export const checkList = (input: ListLobbies) => checked(listSchema, input, 'lobby list: input')

/** The players of a started lobby, handed over to the matchmaker. */
export interface HandedOver {
  /**
   * Use this key as the ticket's id. Each start has its own key. A start that is repeated because its response was lost
   * has the same key. Up to 40 letters, digits and `-`.
   */
  readonly key: string
  readonly lobbyId: string
  /** The present players, the host first. */
  readonly players: readonly { readonly id: string; readonly ip: string; readonly data: Attributes }[]
  /** The lobby's data. */
  readonly data: Attributes
}

/**
 * Accepts a lobby's players as a party, or as a whole match. The application that uses both packages implements it,
 * because neither package depends on the other. It reports the outcome with `lobbies.reportMatch`.
 */
export interface LobbyMatchmaker {
  /**
   * Resolves with the matchmaker's reference, such as a ticket id, which is shown to the members. Rejects if the
   * hand-over failed. `close` aborts the signal and waits for the promise.
   */
  handOver(party: HandedOver, options: { readonly signal: AbortSignal }): Promise<{ readonly reference: string }>
  /**
   * Cancels a hand-over, because a player left before there was an assignment, or the lobby was stopped or closed.
   * Repeated until it resolves. It must also resolve for a reference that has ended meanwhile. If the
   * players have a match by now, report it with `reportMatch` before: the lobby then takes the match.
   */
  withdraw(reference: string): Promise<void>
}

/** A report about the match of the players that were handed over under `HandedOver.key`. */
export type MatchReport =
  | {
      readonly key: string
      readonly status: 'assigned'
      /** What a player needs to join the match, such as the server's address. Every member gets the same. */
      readonly assignment: Attributes
    }
  /** The hand-over failed, or the match is over. The lobby opens again. */
  | { readonly key: string; readonly status: 'ended'; readonly reason: string }
