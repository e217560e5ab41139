/**
 * Pools of game servers that serve several matches: how many are kept warm, which one a match gets, and when they end.
 */
export { digestOf, type Enrolment, enrolmentIdOf, enrolmentOf, hasDigest, mayBeAt, mayRun } from './enrolment.js'
export type { Pool } from './pool-definition.js'
export { Pools, type PoolState } from './pools.js'
export type { ServerUse } from './server-use.js'
