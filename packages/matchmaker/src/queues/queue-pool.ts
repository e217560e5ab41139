import { isDeepStrictEqual } from 'node:util'
import { didYouMean } from '@muster/core/internal'
import { poolDeploySchema, type Pool } from '@muster/hosting/internal'

/** What a queue needs of the pool that it names. */
export type PoolOfQueue = Pick<Pool, 'name' | 'deploy'>

/** A queue's definition with the `deploy` of its pool, or what is wrong with it at a field. */
export type Pooled<Definition> =
  | { readonly definition: Definition; readonly fault?: undefined }
  | { readonly definition?: undefined; readonly fault: { readonly field: 'pool' | 'deploy'; readonly message: string } }

type Fields = Readonly<Record<string, unknown>>

/** A queue that names a pool is deployed as the pool says. Any other value is left to the schema. */
export function withPool<Definition>(definition: Definition, pools: readonly PoolOfQueue[]): Pooled<Definition> {
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
  // A queue that was checked before has the deploy of its pool.
  if (deploy !== undefined && !isSameDeploy(deploy, pool.deploy))
    return { fault: { field: 'deploy', message: 'must be left out, because its pool says what is deployed' } }
  return { definition: { ...definition, deploy: pool.deploy } }
}

/** Defaults may be filled in on one side only. */
function isSameDeploy(one: unknown, other: PoolOfQueue['deploy']): boolean {
  const { success, data } = poolDeploySchema.safeParse(one)
  return success && isDeepStrictEqual(data, poolDeploySchema.parse(other))
}

const fieldsOf = (value: unknown): Fields => (typeof value === 'object' && value !== null ? (value as Fields) : {})
