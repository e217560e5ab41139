import { MusterError } from '@muster/core'
import type { RedisConnection } from '../connection/index.js'
import { keyOfPartition, partitionKeys } from './store/index.js'

/** Maximum number of names that are kept under one prefix (our choice). Names are configured, so there are few. */
const MOST_NAMES = 100

/**
 * Finds other partitions under the prefix that still have servers or matches although no process leads them, for
 * instance because `name` was changed. Also records the name of this partition for later calls. Nothing else changes,
 * since another program may lead that partition again.
 */
export async function findAbandonedPartitions(redis: RedisConnection, name: string): Promise<readonly MusterError[]> {
  const key = redis.keys('partitions')('names')
  const names = (await redis.command(key, ['SMEMBERS', key])) as readonly string[]
  if (!names.includes(name) && names.length < MOST_NAMES) await redis.command(key, ['SADD', key, name])
  const found: MusterError[] = []
  for (const other of names) {
    if (other === name) continue
    const { lease, hosting } = partitionKeys(redis.keys(keyOfPartition(other)))
    const isLed = Number(await redis.command(lease, ['EXISTS', lease])) > 0
    if (!isLed && Number(await redis.command(hosting, ['HLEN', hosting])) > 0) found.push(abandoned(other, name))
  }
  return found
}

const abandoned = (other: string, name: string) =>
  new MusterError(
    `Partition ${JSON.stringify(other)} in the same Redis still has servers or matches, but no process leads it. ` +
      `If the name was changed to ${JSON.stringify(name)}, nothing stops the servers with the tag mm-${other}: ` +
      'run a process with the former name until they have ended.',
  )
