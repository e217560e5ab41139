import { defineScript, type Reply } from '../../connection/index.js'
import type { Acquired, Batch, StoredHosting, StoredTicket } from './store.js'
import { FENCE, MANY, NOW } from './lua.js'
import { storedTicket } from './ticket-scripts.js'

/**
 * KEYS: epoch, lease, queues in force. ARGV: owner, milliseconds, the latest format that it reads. An epoch is a number
 * and its owner; it is the fencing token of the leader. In an empty Redis the number begins with the time, so that no
 * epoch from before Redis was emptied repeats.
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

/** KEYS: epoch, lease. ARGV: token, milliseconds. */
export const renewScript = defineScript({
  name: 'partition.renew',
  lua: `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
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

/** KEYS: epoch. ARGV: token. Not marked as one that only reads, for a replica must not answer it. */
export const fenceScript = defineScript({
  name: 'partition.fence',
  lua: `${FENCE}\nreturn 1`,
  kind: 'write-if-full',
  read: () => {},
})

/**
 * KEYS: replies to a follower. ARGV: how the reply begins. Answer: the newest such reply, or nothing.
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
 * Also while Redis is full: a new leader says so first, and it is who makes room.
 * KEYS: epoch, queues in force. ARGV: token, text, format that the leader writes.
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

/** KEYS: bodies, headers. ARGV: cursor, about how many. Answer: the next cursor, then id, body, header of each. */
export const loadTicketsScript = defineScript({
  name: 'partition.loadTickets',
  lua: `
${MANY}
local next, found = unpack(redis.call('HSCAN', KEYS[1], ARGV[1], 'COUNT', ARGV[2]))
local ids, tickets = {}, {next}
for i = 1, #found, 2 do ids[#ids + 1] = found[i] end
for i, header in ipairs(get(KEYS[2], ids, 1, #ids)) do
  if not header or string.byte(header) ~= 67 then
    tickets[#tickets + 1] = ids[i]
    tickets[#tickets + 1] = found[2 * i]
    tickets[#tickets + 1] = header
  end
end
return tickets
`,
  kind: 'read',
  read: (reply): Batch<StoredTicket> => readTriples(reply, storedTicket),
})

/** KEYS: hosting, locks. ARGV: cursor, about how many. Answer: the next cursor, then key, record, locked of each. */
export const loadHostingScript = defineScript({
  name: 'partition.loadHosting',
  lua: `
${MANY}
local next, found = unpack(redis.call('HSCAN', KEYS[1], ARGV[1], 'COUNT', ARGV[2]))
local matches, records = {}, {next}
-- 109 is m. No match has the id ''.
for i = 1, #found, 2 do
  matches[#matches + 1] = string.byte(found[i]) == 109 and string.sub(found[i], 3) or ''
end
for i, locked in ipairs(get(KEYS[2], matches, 1, #matches)) do
  records[#records + 1] = found[2 * i - 1]
  records[#records + 1] = found[2 * i]
  records[#records + 1] = locked
end
return records
`,
  kind: 'read',
  read: (reply): Batch<StoredHosting> =>
    readTriples(reply, (key, text, locked) => ({ key, text, locked: locked?.split(' ') ?? [] })),
})

/**
 * Puts records of format 1 in the present format.
 * KEYS: epoch, those of format 1, hosting. ARGV: token, then of each its match, how many records it was, and of each of
 * these its key and text.
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

/** Reads the next cursor, and three words of each. */
function readTriples<T>(reply: Reply, read: (key: string, text: string, more: string | null) => T): Batch<T> {
  const [next, ...rest] = reply as readonly (string | null)[]
  const items: T[] = []
  for (let at = 0; at < rest.length; at += 3)
    items.push(read(rest[at] as string, rest[at + 1] as string, rest[at + 2] ?? null))
  return { items, next: nextOf(next as string) }
}

/** Reads the answer of HSCAN. */
export function readScanned<T>(reply: Reply, read: (field: string, value: string) => T): Batch<T> {
  const [next, found] = reply as unknown as readonly [string, readonly string[]]
  const items: T[] = []
  for (let at = 0; at < found.length; at += 2) items.push(read(found[at] as string, found[at + 1] as string))
  return { items, next: nextOf(next) }
}

const nextOf = (cursor: string): string | undefined => (cursor === '0' ? undefined : cursor)

/**
 * KEYS: epoch, headers, bodies, ended, assignments, inbox, changes.
 * ARGV: token, for how many milliseconds tickets are kept, about how many at most, for how many milliseconds entries of
 * the streams are kept.
 * A line of `ended` is the time and the ids of what ended in one step, space between; those of matches, whose
 * assignments go as well, begin with =.
 */
export const sweepScript = defineScript({
  name: 'partition.sweep',
  lua: `
${FENCE}
${NOW}
${MANY}
local before, most = now() - ARGV[2], tonumber(ARGV[3])
local ids, matches = {}, {}
while #ids + #matches < most do
  local line = redis.call('LINDEX', KEYS[4], 0)
  local at, rest = string.match(line or '', '^(%d+) (.*)$')
  if not at or tonumber(at) > before then break end
  redis.call('LPOP', KEYS[4])
  for id in string.gmatch(rest, '%S+') do
    if string.byte(id) == 61 then matches[#matches + 1] = string.sub(id, 2) else ids[#ids + 1] = id end
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
