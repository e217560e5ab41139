import { createSets } from '@muster/core/internal'
import type { Lobby, LobbyStore, PublicQuery } from '@muster/relay'
import { z } from 'zod'
import { checkOptions, connectionSchema, nameSchema, type RedisConnection } from '../connection/index.js'
import { followStream, type StreamFollower } from '../stream/follow-stream.js'
import { listingOf, lobbyKeys, membersOf, wantedTraits } from './lobby-keys.js'
import { CREATE, DUE, LIST, READ, READ_BY_CODE, REMOVE, REPLACE } from './lobby-scripts.js'

/** Notifies of changes by any process: follows the stream of changes once there is a watcher. */
function createWatchers(redis: RedisConnection, key: string) {
  const watchers = createSets<string, () => void>()
  let follower: StreamFollower | undefined
  let isClosed = false

  const tell = (id: string) => {
    for (const changed of watchers.of(id)) changed()
  }
  const follow = () =>
    followStream({
      redis,
      key,
      onEntries: (entries) => {
        for (const id of new Set(entries.map(([, lobby]) => lobby))) tell(id)
      },
      // Watchers read their lobby again, so they miss no change.
      onGap: () => {
        for (const id of watchers.keys()) tell(id)
      },
    })

  return {
    /** Calls `changed` after every change of the lobby. Returns a function that stops it. */
    watch: (id: string, changed: () => void) => {
      if (!isClosed) follower ??= follow()
      const listener = () => changed()
      watchers.add(id, listener)
      return () => void watchers.delete(id, listener)
    },
    close: () => {
      isClosed = true
      follower?.close()
    },
  }
}

export interface RedisLobbyStoreOptions {
  readonly redis: RedisConnection
  /** Name of the store: processes with the same name share their lobbies. Default `main`. */
  readonly name?: string | undefined
  /**
   * Days for which lobbies are kept after the last process that used the store has ended. While one runs, lobbies end
   * by the rules of `createLobbies`. Default 7.
   */
  readonly keepDays?: number | undefined
}

/** A store of lobbies in Redis. */
export interface RedisLobbyStore extends LobbyStore {
  /** Stops following changes. Lobbies stay in Redis, and the connection stays open. */
  close(): void
}

/** Maximum number of lobbies examined for one page, like in the memory store. */
const MOST_LOOKS = 500
/** Maximum number of changes in the stream: enough for a follower that was disconnected for some seconds. */
const MOST_EVENTS = 10_000
/** Greater than the number of any lobby. */
const FIRST_PAGE = '9'.repeat(16)
const DAY_MS = 86_400_000

/**
 * Keeps lobbies in Redis, for all processes with the same name. It stores players' addresses, attributes and tokens of
 * relay sessions there, and digests of passwords.
 *
 * While Redis is full, no lobby can be created; existing ones continue, and can close. If Redis loses its data, the
 * lobbies are lost, and relay sessions without a lobby are deleted as orphans.
 * @throws {InvalidInput} for an invalid option
 */
export function createRedisLobbyStore(options: RedisLobbyStoreOptions): RedisLobbyStore {
  const { redis, name, keepDays } = checkOptions('createRedisLobbyStore', schema, options)
  const keys = lobbyKeys(redis.keys(`lobbies.${name}`))
  const keepMs = Math.ceil(keepDays * DAY_MS)
  const { head, body, codes, due, members, players, listing, traits, last, events } = keys
  const watchers = createWatchers(redis, events)

  const indexed = (lobby: Lobby) => [membersOf(lobby), listingOf(lobby)]
  const replace: LobbyStore['replace'] = (lobby, version, dueAt) =>
    redis.run(
      REPLACE,
      [head, body, due, members, players, listing, traits, events],
      [lobby.id, version, JSON.stringify(lobby), dueAt, ...indexed(lobby), MOST_EVENTS, keepMs],
    )

  return {
    create: (lobby, dueAt) =>
      redis.run(
        CREATE,
        [head, body, codes, due, members, players, listing, traits, last],
        [lobby.id, lobby.code, JSON.stringify(lobby), dueAt, ...indexed(lobby), keepMs],
      ),
    get: (id) => redis.run(READ, [head, body], [id]),
    getByCode: (code) => redis.run(READ_BY_CODE, [head, body, codes], [code]),
    replace,
    noteSeen: (lobby, version, _, dueAt) => replace(lobby, version, dueAt),
    delete: (id, version) =>
      redis.run(
        REMOVE,
        [head, body, codes, due, members, players, listing, traits, events],
        [id, version, MOST_EVENTS, keepMs],
      ),
    due: (now, limit) =>
      redis.run(DUE, [due, head, body, codes, members, players, listing, traits, last, events], [now, limit, keepMs]),
    listPublic: async ({ data, minFree, limit, after }: PublicQuery) => {
      if (after !== undefined && !/^\d{16}$/.test(after)) return { lobbies: [], next: undefined }
      const words = [after ?? FIRST_PAGE, limit, MOST_LOOKS, minFree, ...wantedTraits(data, minFree > 0)]
      return redis.run(LIST, [traits, listing, body], words)
    },
    idsOf: async (playerId) => {
      const member = JSON.stringify(playerId)
      // A space separates the player from the lobby, and '!' is the next character after it.
      const found = await redis.command(players, ['ZRANGE', players, `[${member} `, `(${member}!`, 'BYLEX'])
      return (found as readonly string[]).map((text) => text.slice(member.length + 1))
    },
    ids: async () => (await redis.command(head, ['HKEYS', head])) as readonly string[],
    watch: watchers.watch,
    close: watchers.close,
  }
}

const schema = z.strictObject({
  redis: connectionSchema,
  name: nameSchema.default('main'),
  keepDays: z.number().positive().max(3650).default(7),
})
