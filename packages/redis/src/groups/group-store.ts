import type { Group, GroupStore, StoredGroup } from '@muster/matchmaker'
import { ENDED_GROUP_MS, longestGapMs } from '@muster/matchmaker/internal'
import { z } from 'zod'
import {
  checkOptions,
  connectionSchema,
  nameSchema,
  type RedisConnection,
  defineScript,
  type Reply,
  type Script,
} from '../connection/index.js'

/*
 * The keys of a group store, all in one slot:
 *
 *   g   hash: id → `version s|g JSON` (searches or gathers)      p   hash: player → id of the group they gather in
 *   z   sorted set: id by the time until which it is kept        all expire when no group was read for long
 *
 * The empty field of `p` is `time missed`: the time of the last call, and the milliseconds without time for requests.
 */

/**
 * Shared by all scripts: reads the clock of Redis, and removes at most a hundred expired groups. If Redis was away, or
 * its clock was changed, no process could read a group meanwhile, so that time does not count.
 */
const SWEEP = `
local groups, players, kept = unpack(KEYS)
local gather_ms, search_ms, longest_gap = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(table.remove(ARGV))
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local called_at, missed = string.match(redis.call('HGET', players, '') or '', '^(%d+) (-?%d+)$')
local gap = now - (called_at or now)
missed = (missed or 0) + gap - math.max(0, math.min(gap, longest_gap))
redis.call('HSET', players, '', string.format('%.0f %.0f', now, missed))
redis.call('PEXPIRE', players, math.max(gather_ms, search_ms) * 2)
now = now - missed
local function forget(id, record)
  for _, member in ipairs(cjson.decode(string.match(record, '^%d+ [sg] (.*)$')).members) do
    local player = member.player.id
    if redis.call('HGET', players, player) == id then redis.call('HDEL', players, player) end
  end
  redis.call('HDEL', groups, id)
  redis.call('ZREM', kept, id)
end
local function keep(id, state, json)
  local ms = state == 's' and search_ms or gather_ms
  if string.find(json, '{"isEnded":true', 1, true) == 1 then ms = math.min(gather_ms, ${ENDED_GROUP_MS}) end
  redis.call('ZADD', kept, now + ms, id)
  for _, key in ipairs(KEYS) do redis.call('PEXPIRE', key, math.max(gather_ms, search_ms) * 2) end
end
for _, id in ipairs(redis.call('ZRANGE', kept, '-inf', now, 'BYSCORE', 'LIMIT', 0, 100)) do
  local record = redis.call('HGET', groups, id)
  if record then forget(id, record) else redis.call('ZREM', kept, id) end
end
-- True if a player who was not in the record gathers in another group.
local function is_taken(id, json, record)
  local present = {}
  local before = record and cjson.decode(string.match(record, '^%d+ [sg] (.*)$')).members or {}
  for _, member in ipairs(before) do present[member.player.id] = true end
  for _, member in ipairs(cjson.decode(json).members) do
    local player = member.player.id
    local other = not present[player] and redis.call('HGET', players, player)
    if other and other ~= id and redis.call('HEXISTS', groups, other) == 1 then return true end
  end
  return false
end
local function enter(id, version, state, json)
  redis.call('HSET', groups, id, version .. ' ' .. state .. ' ' .. json)
  if state == 'g' then
    for _, member in ipairs(cjson.decode(json).members) do redis.call('HSET', players, member.player.id, id) end
  end
  keep(id, state, json)
end
`

/** Parses version and JSON. Undefined if there is no group. */
const readFound = (reply: Reply): readonly [version: number, json: string] | undefined => {
  if (reply === null) return undefined
  const [version, json] = reply as readonly [string, string]
  return [Number(version), json]
}

/**
 * Finds a group by its id, or by a player in a forming group, and extends its expiry. Arguments after the times: `id`
 * or `player`, and its value.
 */
const FIND = defineScript({
  name: 'groups.find',
  kind: 'write-if-full',
  lua: `${SWEEP}
local id = ARGV[4]
if ARGV[3] == 'player' then id = redis.call('HGET', players, id) end
local record = id and redis.call('HGET', groups, id)
if not record then return false end
local version, state, json = string.match(record, '^(%d+) ([sg]) (.*)$')
keep(id, state, json)
return {version, json}
`,
  read: readFound,
})

/**
 * Creates a group at version 1. Arguments after the times: id, JSON, state, maximum number of groups. Reply: groups, or
 * -1 if there are too many or a player gathers elsewhere.
 */
const CREATE = defineScript({
  name: 'groups.create',
  lua: `${SWEEP}
local id, json, state, most = ARGV[3], ARGV[4], ARGV[5], tonumber(ARGV[6])
local count = redis.call('HLEN', groups)
if redis.call('HEXISTS', groups, id) == 1 then return count end
if count >= most or is_taken(id, json) then return -1 end
enter(id, 1, state, json)
return count + 1
`,
  read: Number,
})

/**
 * Replaces a version, or deletes the group if the state is empty. Arguments after the times: id, JSON, state, version.
 * Reply: groups, or -1 if the version is not the current one or a new player gathers elsewhere.
 */
const REPLACE = defineScript({
  name: 'groups.replace',
  kind: 'write-if-full',
  lua: `${SWEEP}
local id, json, state, version = ARGV[3], ARGV[4], ARGV[5], ARGV[6]
local record = redis.call('HGET', groups, id)
if not record or string.match(record, '^%d+') ~= version or is_taken(id, json, record) then return -1 end
forget(id, record)
if state ~= '' then enter(id, version + 1, state, json) end
return redis.call('HLEN', groups)
`,
  read: Number,
})

export interface RedisGroupStoreOptions {
  readonly redis: RedisConnection
  /** Name of the store: ticket APIs with the same name share their groups. Default `main`. */
  readonly name?: string | undefined
  /** Milliseconds for which a forming group is kept without requests about it. Default 300,000. */
  readonly idleMs?: number | undefined
  /**
   * Milliseconds for which a searching group is kept without requests about it: longer than its ticket may live.
   * Default 3,600,000 (our choice).
   */
  readonly searchingMs?: number | undefined
  /** Maximum number of groups; more are refused with 503. Default 100,000. */
  readonly mostGroups?: number | undefined
}

/**
 * Keeps the groups of the ticket API in Redis, for all processes with the same name. It stores players' addresses and
 * attributes there. While Redis is full, no group can be created; existing ones continue. If Redis loses its data, the
 * groups are lost, and their players have to form new ones.
 * @throws {InvalidInput} naming the option and the value
 * @example createTicketApi(partition, { authenticate, groups: createRedisGroupStore({ redis }) })
 */
export function createRedisGroupStore(options: RedisGroupStoreOptions): GroupStore {
  const { redis, name, idleMs, searchingMs, mostGroups } = checkOptions('createRedisGroupStore', schema, options)
  const key = redis.keys(`groups.${name}`)
  const keys = [key('g'), key('p'), key('z')]
  let size = 0

  const run = <T>(script: Script<T>, ...words: readonly (string | number)[]): Promise<T> =>
    redis.run(script, keys, [idleMs, searchingMs, ...words, longestGapMs(idleMs)])
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
      const count = await run(CREATE, group.id, jsonOf(group), stateOf(group), mostGroups)
      if (count < 0) return false
      size = count
      return true
    },
    replace: async (group, version) => {
      const count = await run(REPLACE, group.id, jsonOf(group), stateOf(group), version)
      if (count < 0) return false
      size = count
      return true
    },
    size: () => size,
  }
}

/** Returns the state: forming (`g`), searching (`s`), or empty for a group to delete. */
const stateOf = ({ members, searchingSince }: Group): 'g' | 's' | '' => {
  if (members.length === 0) return ''
  return searchingSince === undefined ? 'g' : 's'
}

/** Returns a group as JSON. That of an ended group begins with `isEnded`, which the scripts look for. */
const jsonOf = ({ isEnded, ...group }: Group): string =>
  JSON.stringify(isEnded === true ? { isEnded, ...group } : group)

/** Parses a group. JSON omits undefined fields. */
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
