import type { Group, GroupStore, StoredGroup } from '@muster/matchmaker'
import { z } from 'zod'
import type { RedisConnection } from '../connection/connection.js'
import { checkOptions, connectionSchema, nameSchema } from '../connection/options.js'
import type { Script } from '../connection/script.js'
import { CREATE, FIND, REPLACE } from './scripts.js'

export interface RedisGroupStoreOptions {
  readonly redis: RedisConnection
  /** Name of the store: ticket APIs that give the same share their groups. Default `main`. */
  readonly name?: string | undefined
  /** Milliseconds for which a group that gathers is kept without requests about it. Default 300,000. */
  readonly idleMs?: number | undefined
  /**
   * Milliseconds for which a group that searches is kept without requests about it: longer than its ticket may live.
   * Default 3,600,000 (our choice).
   */
  readonly searchingMs?: number | undefined
  /** Most groups at once; more are refused with 503. Default 100,000. */
  readonly mostGroups?: number | undefined
}

/**
 * Keeps the groups of the ticket API in Redis, for all processes that give the same name. Values of players are stored
 * there: addresses, attributes. While Redis is full no group can be made; those that exist go on. If Redis has lost its
 * data, groups are gone, and their players gather anew.
 * @throws {InvalidInput} naming the option and the value
 * @example
 * createTicketApi(partition, { authenticate, groups: createRedisGroupStore({ redis }) })
 */
export function createRedisGroupStore(options: RedisGroupStoreOptions): GroupStore {
  const { redis, name, idleMs, searchingMs, mostGroups } = checkOptions('createRedisGroupStore', schema, options)
  const key = redis.keys(`groups.${name}`)
  const keys = [key('g'), key('p'), key('z')]
  let size = 0

  const run = <T>(script: Script<T>, ...words: readonly (string | number)[]): Promise<T> =>
    redis.run(script, keys, [idleMs, searchingMs, ...words])
  const find = async (by: 'id' | 'player', what: string): Promise<StoredGroup | undefined> => {
    const found = await run(FIND, by, what)
    if (found === undefined) return undefined
    const [version, json] = found
    return { version, group: groupOf(json) }
  }

  return {
    find: (id) => find('id', id),
    gathering: (playerId) => find('player', playerId),
    create: async (group) => {
      const count = await run(CREATE, group.id, JSON.stringify(group), stateOf(group), mostGroups)
      if (count < 0) return false
      size = count
      return true
    },
    replace: async (group, version) => {
      const count = await run(REPLACE, group.id, JSON.stringify(group), stateOf(group), version)
      if (count < 0) return false
      size = count
      return true
    },
    size: () => size,
  }
}

/** Gathers, searches, or is to be deleted. */
const stateOf = ({ members, searchingSince }: Group): 'g' | 's' | '' => {
  if (members.length === 0) return ''
  return searchingSince === undefined ? 'g' : 's'
}

/** JSON leaves out what is undefined. */
function groupOf(json: string): Group {
  const group = JSON.parse(json) as Group
  return { ...group, searchingSince: group.searchingSince }
}

const milliseconds = z.number().min(1).max(31_536_000_000)
const schema = z.strictObject({
  redis: connectionSchema,
  name: nameSchema.default('main'),
  idleMs: milliseconds.default(300_000),
  searchingMs: milliseconds.default(3_600_000),
  mostGroups: z.int().min(1).default(100_000),
})
