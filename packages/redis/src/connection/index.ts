/** The connection to Redis: options, errors, scripts and keys. */
export { createBatcher, cut, MOST_WEIGHT } from './batch.js'
export { RedisError, RedisTimedOut } from './connection-errors.js'
export { checkOptions, clockSchema, connectionSchema, nameSchema, type RedisConnection } from './connection.js'
export { repeatUntil, RETRY_MS } from './repeat-until.js'
export { defineScript, type KeySpace, type Reply, type Script } from './script.js'
