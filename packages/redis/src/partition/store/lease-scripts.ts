import { defineScript, type RedisConnection, RedisError, type Reply, type Script } from '../../connection/index.js'
import { LeaseLost } from '../partition-errors.js'
import type { Acquired, ScanPage, StoredTicket } from './store.js'
import { NUMBER_OF } from './commit-numbers.js'
import { FENCE, MANY, NOW } from './lua.js'
import { storedTicket } from './ticket-scripts.js'

/** Runs a script of a leader. @param name of the partition. @throws {LeaseLost} */
export async function runFenced<T>(
  redis: RedisConnection,
  name: string,
  script: Script<T>,
  keys: readonly string[],
  words: readonly (string | number)[],
): Promise<T> {
  try {
    return await redis.run(script, keys, words)
  } catch (error) {
    throw error instanceof RedisError && /^(?:DEPOSED|BEHIND)$/.test(error.code) ? new LeaseLost(name) : error
  }
}

/**
 * KEYS: epoch, lease, current queues. ARGV: owner, milliseconds, the latest format that the owner reads. An epoch is a
 * number and its owner; it is the fencing token of the leader. In an empty Redis the number begins with the time, so
 * that no epoch from before Redis was emptied repeats.
 */
export const acquireScript = defineScript({
  name: 'partition.acquire',
  lua: `
${NOW}
local format = redis.call('HGET', KEYS[3], 'format')
if format and tonumber(format) > tonumber(ARGV[3]) then return redis.error_reply('NEWER ' .. format) end
local epoch, held = redis.call('GET', KEYS[1]), redis.call('GET', KEYS[2])
if held and held == epoch then
  local owner = string.match(held, ':(.*)$')
  if owner ~= ARGV[1] then return {'', owner, redis.call('PTTL', KEYS[2])} end
else
  local number = epoch and string.match(epoch, '^%d+') + 1 or now()
  epoch = string.format('%.0f', number) .. ':' .. ARGV[1]
  redis.call('SET', KEYS[1], epoch)
end
redis.call('SET', KEYS[2], epoch, 'PX', ARGV[2])
return {epoch}
`,
  kind: 'write-if-full',
  read: (reply): Acquired => {
    const [token, owner, forMs] = reply as unknown as readonly [string, string?, number?]
    if (token !== '') return { kind: 'acquired', token }
    return { kind: 'held', owner: owner as string, forMs: Math.max(1, forMs as number) }
  },
})

/** KEYS: epoch, lease, current queues. ARGV: token, milliseconds, number of commits that Redis must have. */
export const renewScript = defineScript({
  name: 'partition.renew',
  lua: `
${NUMBER_OF}
if redis.call('GET', KEYS[1]) ~= ARGV[1] or not numberOf(KEYS[3], ARGV[1], ARGV[3]) then return 0 end
redis.call('SET', KEYS[2], ARGV[1], 'PX', ARGV[2])
return 1
`,
  kind: 'write-if-full',
  read: (reply) => reply === 1,
})

/** KEYS: lease. ARGV: token. */
export const releaseScript = defineScript({
  name: 'partition.release',
  lua: `
if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
return 1
`,
  kind: 'write-if-full',
  read: () => {},
})

/** KEYS: epoch. ARGV: token. Not marked as read-only, because a replica must not reply to it. */
export const fenceScript = defineScript({
  name: 'partition.fence',
  lua: `${FENCE}\nreturn 1`,
  kind: 'write-if-full',
  read: () => {},
})

/**
 * KEYS: replies to a follower. ARGV: the beginning of the reply. Reply: the newest reply that begins so, or nothing.
 */
export const answeredScript = defineScript({
  name: 'partition.answered',
  lua: `
local last = '+'
while true do
  local entries = redis.call('XREVRANGE', KEYS[1], last, '-', 'COUNT', 256)
  for _, entry in ipairs(entries) do
    if string.sub(entry[2][2], 1, #ARGV[1]) == ARGV[1] then return entry[2][2] end
  end
  if #entries < 256 then return false end
  last = '(' .. entries[#entries][1]
end
`,
  kind: 'read',
  read: (reply) => (reply === null ? undefined : (reply as string)),
})

/**
 * Works even while Redis is full: a new leader starts with it, and only the leader frees memory. KEYS: epoch, current
 * queues. ARGV: token, text, format that the leader writes.
 */
export const setInForceScript = defineScript({
  name: 'partition.setInForce',
  lua: `
${FENCE}
${NOW}
if redis.call('HGET', KEYS[2], 'text') ~= ARGV[2] then
  redis.call('HSET', KEYS[2], 'text', ARGV[2], 'since', now())
end
redis.call('HSET', KEYS[2], 'format', ARGV[3])
return redis.call('HGET', KEYS[2], 'since')
`,
  kind: 'write-if-full',
  read: Number,
})

/**
 * Reads a part of all tickets. Cancelled tickets (67 is the code of C) are omitted. KEYS: bodies, headers.
 * ARGV: cursor, approximate number. Reply: the next cursor, then id, body and header of each ticket.
 */
export const loadTicketsScript = defineScript({
  name: 'partition.loadTickets',
  lua: `
${MANY}
local next, found = unpack(redis.call('HSCAN', KEYS[1], ARGV[1], 'COUNT', ARGV[2]))
local ids, loaded = {}, {next}
for i = 1, #found, 2 do ids[#ids + 1] = found[i] end
for i, header in ipairs(get(KEYS[2], ids, 1, #ids)) do
  if not header or string.byte(header) ~= 67 then
    loaded[#loaded + 1] = found[2 * i - 1]
    loaded[#loaded + 1] = found[2 * i]
    loaded[#loaded + 1] = header
  end
end
return loaded
`,
  kind: 'read',
  read: (reply): ScanPage<StoredTicket> => {
    const [next, ...rest] = reply as readonly (string | null)[]
    const items: StoredTicket[] = []
    for (let at = 0; at < rest.length; at += 3)
      items.push(storedTicket(rest[at] as string, rest[at + 1] as string, rest[at + 2] ?? null))
    return { items, next: nextOf(next as string) }
  },
})

/**
 * Converts records of format 1 to the current format. KEYS: epoch, records of format 1, hosting. ARGV: token, then for
 * each record its match, the number of new records, and the key and text of each of these.
 */
export const convertScript = defineScript({
  name: 'partition.convert',
  lua: `
${FENCE}
local at = 2
while ARGV[at] do
  local before, records = ARGV[at], tonumber(ARGV[at + 1])
  at = at + 2
  if redis.call('HDEL', KEYS[2], before) == 1 then
    for i = 0, records - 1 do redis.call('HSET', KEYS[3], ARGV[at + 2 * i], ARGV[at + 2 * i + 1]) end
  end
  at = at + 2 * records
end
return 1
`,
  kind: 'write-if-full',
  read: Number,
})

/** Parses the reply of HSCAN. */
export function readScanned<T>(reply: Reply, read: (field: string, value: string) => T): ScanPage<T> {
  const [next, found] = reply as unknown as readonly [string, readonly string[]]
  const items: T[] = []
  for (let at = 0; at < found.length; at += 2) items.push(read(found[at] as string, found[at + 1] as string))
  return { items, next: nextOf(next) }
}

const nextOf = (cursor: string): string | undefined => (cursor === '0' ? undefined : cursor)

/**
 * KEYS: epoch, headers, bodies, ended, assignments, inbox, changes. ARGV: token, milliseconds for which tickets are
 * kept, approximate maximum number, milliseconds for which entries of the streams are kept. A line of `ended` is the
 * time and the ids that ended in one step, separated by spaces. Those of matches, whose assignments are deleted too,
 * begin with =.
 */
export const sweepScript = defineScript({
  name: 'partition.sweep',
  lua: `
${FENCE}
${NOW}
${MANY}
local time, most = tonumber(now()), tonumber(ARGV[3])
local before, ids, matches, moved = time - ARGV[2], {}, {}, 0
while #ids + #matches + moved < most do
  local line = redis.call('LINDEX', KEYS[4], 0)
  local at, rest = string.match(line or '', '^(%d+) (.*)$')
  at = tonumber(at)
  -- A later time than now shows that Redis' clock was set back. It would keep all lines behind it in the list.
  local isLater = at and at > time
  if not at or at > before and not isLater then break end
  redis.call('LPOP', KEYS[4])
  if isLater then
    redis.call('RPUSH', KEYS[4], now() .. ' ' .. rest)
    moved = moved + 1
  else
    for id in string.gmatch(rest, '%S+') do
      if string.byte(id) == 61 then matches[#matches + 1] = string.sub(id, 2) else ids[#ids + 1] = id end
    end
  end
end
many('HDEL', KEYS[2], ids, 1, #ids)
many('HDEL', KEYS[3], ids, 1, #ids)
many('HDEL', KEYS[5], matches, 1, #matches)
-- The newest few entries always stay: readers look for the last one that they have read.
for i = 6, 7 do
  local newest = redis.call('XREVRANGE', KEYS[i], '+', '-', 'COUNT', 4)
  if #newest > 0 then
    local at, oldest = tonumber(string.match(newest[#newest][1], '^%d+')), now() - ARGV[4]
    redis.call('XTRIM', KEYS[i], 'MINID', at < oldest and newest[#newest][1] or string.format('%.0f', oldest))
  end
end
return #ids
`,
  kind: 'write-if-full',
  read: Number,
})
