import { defineScript } from '../../../connection/script.js'
import type { Acquired } from '../store.js'
import { FENCE, NOW } from './lua.js'

/**
 * KEYS: epoch, lease. ARGV: owner, milliseconds. An epoch is a number and its owner. In an empty Redis the number
 * begins with the time, so that no epoch from before it was emptied comes again.
 */
const ACQUIRE = `
${NOW}
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
`

export const acquireScript = defineScript({
  name: 'partition.acquire',
  lua: ACQUIRE,
  kind: 'write-if-full',
  read: (reply): Acquired => {
    const [token, owner, forMs] = reply as unknown as readonly [string, string?, number?]
    if (token !== '') return { kind: 'acquired', token }
    return { kind: 'held', owner: owner as string, forMs: Math.max(1, forMs as number) }
  },
})

/** KEYS: epoch, lease. ARGV: token, milliseconds. */
const RENEW = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[2], ARGV[1], 'PX', ARGV[2])
return 1
`

export const renewScript = defineScript({
  name: 'partition.renew',
  lua: RENEW,
  kind: 'write-if-full',
  read: (reply) => reply === 1,
})

/** KEYS: lease. ARGV: token. */
const RELEASE = `
if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
return 1
`

export const releaseScript = defineScript({
  name: 'partition.release',
  lua: RELEASE,
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

/** KEYS: epoch, replies to a front. ARGV: token, most entries, milliseconds for which they are kept, the replies. */
const ANSWER = `
${FENCE}
for i = 4, #ARGV do redis.call('XADD', KEYS[2], 'MAXLEN', '~', ARGV[2], '*', 'a', ARGV[i]) end
redis.call('PEXPIRE', KEYS[2], ARGV[3])
return 1
`

export const answerScript = defineScript({
  name: 'partition.answer',
  lua: ANSWER,
  kind: 'write-if-full',
  read: () => {},
})

/**
 * KEYS: replies to a front. ARGV: how the reply begins. Answer: the newest such reply, or nothing.
 */
const ANSWERED = `
local last = '+'
while true do
  local entries = redis.call('XREVRANGE', KEYS[1], last, '-', 'COUNT', 256)
  for _, entry in ipairs(entries) do
    if string.sub(entry[2][2], 1, #ARGV[1]) == ARGV[1] then return entry[2][2] end
  end
  if #entries < 256 then return false end
  last = '(' .. entries[#entries][1]
end
`

export const answeredScript = defineScript({
  name: 'partition.answered',
  lua: ANSWERED,
  kind: 'read',
  read: (reply) => (reply === null ? undefined : (reply as string)),
})

/** KEYS: epoch, queues in force. ARGV: token, text. */
const SET_IN_FORCE = `
${FENCE}
${NOW}
if redis.call('HGET', KEYS[2], 'text') ~= ARGV[2] then
  redis.call('HSET', KEYS[2], 'text', ARGV[2], 'since', now())
end
return redis.call('HGET', KEYS[2], 'since')
`

/** Also while Redis is full: a new leader says so first, and it is who makes room. */
export const setInForceScript = defineScript({
  name: 'partition.setInForce',
  lua: SET_IN_FORCE,
  kind: 'write-if-full',
  read: Number,
})
