import { defineScript } from '../../../connection/script.js'
import { FENCE, MANY, NOW } from './lua.js'

/**
 * KEYS: epoch, headers, bodies, ended, assignments.
 * ARGV: token, for how many milliseconds they are kept, about how many at most.
 * A line of `ended` is the time and the ids of what ended in one step, space between; those of matches, whose
 * assignments go as well, begin with =.
 */
const LUA = `
${FENCE}
${NOW}
${MANY}
local before, most = now() - ARGV[2], tonumber(ARGV[3])
local ids, matches, lines = {}, {}, 0
for _, line in ipairs(redis.call('LRANGE', KEYS[4], 0, math.min(most, 256) - 1)) do
  local at, rest = string.match(line, '^(%d+) (.*)$')
  if tonumber(at) > before or #ids >= most then break end
  for id in string.gmatch(rest, '%S+') do
    if string.byte(id) == 61 then matches[#matches + 1] = string.sub(id, 2) else ids[#ids + 1] = id end
  end
  lines = lines + 1
end
if lines == 0 then return 0 end
redis.call('LTRIM', KEYS[4], lines, -1)
many('HDEL', KEYS[2], ids, 1, #ids)
many('HDEL', KEYS[3], ids, 1, #ids)
many('HDEL', KEYS[5], matches, 1, #matches)
return #ids
`

export const sweepScript = defineScript({ name: 'partition.sweep', lua: LUA, kind: 'write-if-full', read: Number })
