import { isDeepStrictEqual } from 'node:util'
import { didYouMean } from '@muster/core/internal'
import { poolDeploySchema, type Pool } from '@muster/hosting/internal'

/** The fields of a pool that its queues read. */
export type PoolOfQueue = Pick<Pool, 'name' | 'deploy'>

/** A queue's definition with the `deploy` of its pool, or the field that is wrong and why. */
export type WithPoolDeploy<Definition> =
  | { readonly definition: Definition; readonly fault?: undefined }
  | { readonly definition?: undefined; readonly fault: { readonly field: 'pool' | 'deploy'; readonly message: string } }

type Fields = Readonly<Record<string, unknown>>

/** Copies the pool's `deploy` into a queue that names a pool. The schema validates all other values. */
export function withPool<Definition>(
  definition: Definition,
  pools: readonly PoolOfQueue[],
): WithPoolDeploy<Definition> {
  const { pool: name, deploy } = fieldsOf(definition)
  if (typeof name !== 'string') return { definition }
  const pool = pools.find((one) => one.name === name)
  if (pool === undefined) {
    const near = didYouMean(
      name,
      pools.map((one) => one.name),
    )
    return { fault: { field: 'pool', message: `there is no such pool, got ${JSON.stringify(name)}${near}` } }
  }
  // A queue that was validated before already has its pool's deploy.
  if (deploy !== undefined && !isSameDeploy(deploy, pool.deploy))
    return { fault: { field: 'deploy', message: 'must be left out, because its pool says what is deployed' } }
  return { definition: { ...definition, deploy: pool.deploy } }
}

/** True if both are equal after defaults are filled in. Only one of them may already have its defaults. */
function isSameDeploy(one: unknown, other: PoolOfQueue['deploy']): boolean {
  const { success, data } = poolDeploySchema.safeParse(one)
  return success && isDeepStrictEqual(data, poolDeploySchema.parse(other))
}

const fieldsOf = (value: unknown): Fields => (typeof value === 'object' && value !== null ? (value as Fields) : {})
