import { defineScript } from '../../../connection/script.js'
import { FENCE, MANY, NOW } from './lua.js'

/**
 * KEYS: epoch, headers, bodies, ended, assignments, inbox, changes.
 * ARGV: token, for how many milliseconds tickets are kept, about how many at most, for how many milliseconds entries of
 * the streams are kept.
 * A line of `ended` is the time and the ids of what ended in one step, space between; those of matches, whose
 * assignments go as well, begin with =.
 */
const LUA = `
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
`

export const sweepScript = defineScript({ name: 'partition.sweep', lua: LUA, kind: 'write-if-full', read: Number })
