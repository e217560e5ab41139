import { defineScript } from '../../../connection/script.js'

/** KEYS: inbox. ARGV: most entries, the question. */
const LUA = `
redis.call('XADD', KEYS[1], 'MAXLEN', '~', ARGV[1], '*', '?', ARGV[2])
return 1
`

/** Posts a question also while Redis is full: that players have left, or that a match is to be stopped, makes room. */
export const askScript = defineScript({ name: 'partition.ask', lua: LUA, kind: 'write-if-full', read: () => {} })
