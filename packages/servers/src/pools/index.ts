/** Pools of game servers that outlive a match: how many are warm, which a match takes, and when they end. */
export {
  type Pool,
  type PoolDefinition,
  type PoolPlaceDefinition,
  poolSchema,
  type ReuseDefinition,
  type ScheduleDefinition,
  type WarmDefinition,
} from './pool-definition.js'
export { createPools, type PoolPlaceView, type Pools, type PoolState, type WarmNeeds } from './pools.js'
export { lossShare, meanIdle, stockFor } from './stock-size.js'
