import { defineScript, type RedisConnection } from '../connection/index.js'
import { keyOfPartition, partitionKeys } from './store/index.js'

/**
 * KEYS: keys of a partition. ARGV: the type of each. Writes nothing, but counts as a write: Redis refuses it while it
 * is read-only or cannot persist. A full Redis accepts it, because what frees memory still works then.
 */
const checkScript = defineScript({
  name: 'partition.check',
  lua: `
for index, key in ipairs(KEYS) do
  local found = redis.call('TYPE', key).ok
  if found ~= 'none' and found ~= ARGV[index] then return redis.error_reply('WRONGTYPE of a key') end
end
return 1
`,
  kind: 'write-if-full',
  read: () => undefined,
})

type KeyName = Exclude<keyof ReturnType<typeof partitionKeys>, 'repliesTo'>
const TYPES: Readonly<Record<KeyName, 'hash' | 'stream' | 'list' | 'string'>> = {
  bodies: 'hash',
  headers: 'hash',
  assignments: 'hash',
  players: 'hash',
  hosting: 'hash',
  records1: 'hash',
  locks: 'hash',
  backfills: 'hash',
  notes: 'hash',
  inbox: 'stream',
  changes: 'stream',
  ended: 'list',
  lease: 'string',
  epoch: 'string',
  inForce: 'hash',
}

/**
 * Checks that Redis accepts writes for a partition: it is no replica, it persists, and no key has a wrong type. A full
 * Redis passes.
 * @throws {RedisError} whose message names the cause
 */
export async function assertPartitionWritable(redis: RedisConnection, name: string): Promise<void> {
  const keys = partitionKeys(redis.keys(keyOfPartition(name)))
  const names = Object.keys(TYPES) as KeyName[]
  const [of, types] = [names.map((key) => keys[key]), names.map((key) => TYPES[key])]
  await redis.run(checkScript, of, types)
}
