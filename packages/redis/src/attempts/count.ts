import { defineScript } from '../connection/script.js'

/**
 * What is done with a count: `t` takes an attempt if one is allowed, `w` asks whether one is, `c` charges one that was
 * made, `g` gives one back.
 */
export type Deed = 't' | 'w' | 'c' | 'g'

/**
 * Counts attempts by one number per key, as `createAttempts` of `@muster/core/http` does ('generic cell rate
 * algorithm'): the instant, on Redis' clock, from which the key counts no attempts any more. At that instant the key
 * expires: at most two windows from now.
 * Keys: one per deed. Arguments: for each key the deed, milliseconds between two attempts, milliseconds of the window.
 * Answer: for each key the milliseconds to wait, rounded up; 0 if an attempt was or would be allowed.
 */
export const COUNT = defineScript({
  name: 'attempts.count',
  lua: `
local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000
local waits = {}
for i, key in ipairs(KEYS) do
  local deed, interval, window = ARGV[3 * i - 2], tonumber(ARGV[3 * i - 1]), tonumber(ARGV[3 * i])
  local stored = tonumber(redis.call('GET', key) or now)
  -- A clock that was put back must not make anybody wait for longer.
  local clear = math.min(math.max(now, stored), now + 2 * window)
  local wait = clear + interval - now - window
  local to
  if deed == 't' and wait <= 0.01 then to = clear + interval end
  if deed == 'c' then to = math.min(clear + interval, now + 2 * window) end
  if deed == 'g' then to = clear - interval end
  if to and to > now then
    redis.call('SET', key, string.format('%.3f', to), 'PX', math.ceil(to - now))
  elseif to then
    redis.call('DEL', key)
  end
  waits[i] = (deed == 't' or deed == 'w') and wait > 0.01 and math.ceil(wait) or 0
end
return waits
`,
  read: (reply) => reply as readonly number[],
})
