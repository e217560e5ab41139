import { defineScript } from '../../connection/script.js'

/**
 * Finds the lobbies that are due, and puts off the end of the store: whoever asks this once a second uses it.
 * Keys: due, then all others of the store.
 * Arguments: now, most ids, milliseconds until the store expires.
 * Answer: ids, the earliest first.
 */
export const DUE = defineScript({
  name: 'lobbies.due',
  kind: 'write-if-full',
  lua: `
local ids = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', ARGV[1], 'LIMIT', 0, ARGV[2])
for _, key in ipairs(KEYS) do redis.call('PEXPIRE', key, ARGV[3]) end
return ids
`,
  read: (reply) => reply as readonly string[],
})
