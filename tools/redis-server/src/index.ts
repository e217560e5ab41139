/** Starts a separate redis-server for tests, benchmarks and the demo. */
export { findRedisServer, howToGetRedis, skipsRedis, type RedisBinary } from './find.js'
export { startRedisServer, type RedisServer, type RedisServerOptions } from './start.js'
