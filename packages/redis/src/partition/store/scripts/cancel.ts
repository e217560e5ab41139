import { defineScript, type Reply } from '../../../connection/script.js'
import type { CancelOutcome } from '../store.js'
import { FREE, MANY, NOW } from './lua.js'

/**
 * KEYS: headers, bodies, players, locks, inbox, changes, ended.
 * ARGV: most entries of the inbox and of changes, the id, the player who cancels it (or nothing), the players.
 * Answer: whether it is cancelled, and the header; nothing for an unknown ticket.
 */
const LUA = `
${NOW}
${MANY}
${FREE}
local id = ARGV[3]
local header = redis.call('HGET', KEYS[1], id)
if not header then
  if redis.call('HEXISTS', KEYS[2], id) == 0 then return false end
  header = 'S1'
end
local letter, version, match, json = string.match(header, '^(%a)(%d+) ?([^\\n]*)\\n?(.*)$')
if letter == 'C' then return {1, header} end
if letter == 'A' then return {0, header} end
if letter == 'M' then
  local locked = redis.call('HGET', KEYS[4], match)
  if locked and string.find(' ' .. locked .. ' ', ' ' .. id .. ' ', 1, true) then return {0, header} end
end

local stamp, next = now(), version + 1
local rest = string.find(json, '":', 1, true) and string.sub(json, 1, -2) .. ',' or '{'
header = 'C' .. next .. (match == '' and '' or ' ' .. match) .. '\\n'
  .. rest .. '"cancelledAt":' .. stamp .. ',"cancelReason":"cancelled"}'
local who = letter == 'M' and ARGV[4] ~= '' and ' ' .. ARGV[4] or ''
redis.call('XADD', KEYS[5], 'MAXLEN', '~', ARGV[1], '*', '-', id .. who)
redis.call('XADD', KEYS[6], 'MAXLEN', '~', ARGV[2], '*', 'c', id .. ' C' .. next)
redis.call('RPUSH', KEYS[7], stamp .. ' ' .. id)
redis.call('HSET', KEYS[1], id, header)
free(KEYS[3], id, 5, #ARGV)
return {1, header}
`

export const cancelScript = defineScript({
  name: 'partition.cancel',
  lua: LUA,
  kind: 'write-if-full',
  read: readCancelled,
})

function readCancelled(reply: Reply): CancelOutcome {
  if (reply === null) return { kind: 'unknown' }
  const [isCancelled, header] = reply as readonly [number, string]
  return { kind: isCancelled === 1 ? 'cancelled' : 'late', header }
}
