import type { Reply } from './script.js'

/** What there is to know of a Redis before it is used. */
export interface Probed {
  /** E.g. `7.2.4`; undefined where the user may not ask an old one. */
  readonly version: string | undefined
  readonly isReplica: boolean
  /** What Redis does when it is full, e.g. `noeviction`; empty where the user may not ask. */
  readonly evictionPolicy: string
  /** Whether it has a bound at which it deletes keys. */
  readonly evicts: boolean
}

/**
 * Asks for version, role, `maxmemory` and its policy. Runs on every version of Redis, so that one that is too old can
 * be told from one that is out of order. Keys: one, only to find the server. Answer: four texts, each empty where the
 * user may not ask.
 */
export const PROBE = `
local function info(section, field)
  local text = redis.pcall('INFO', section)
  return type(text) == 'string' and string.match(text, field .. ':(%S+)') or ''
end
local version = redis.REDIS_VERSION or info('server', 'redis_version')
return {version, info('replication', 'role'), info('memory', 'maxmemory'), info('memory', 'maxmemory_policy')}
`

export function readProbe(reply: Reply): Probed {
  const [version = '', role = '', most = '', evictionPolicy = ''] = reply as readonly string[]
  const evicts = Number(most) > 0 && evictionPolicy !== '' && evictionPolicy !== 'noeviction'
  return { version: version || undefined, isReplica: role === 'slave', evictionPolicy, evicts }
}

/**
 * The oldest version that can run the scripts. From 7.0 on, scripts may state in their first line what they do, and so
 * are refused before they begin, and the first word of an error is that of the command at fault.
 */
const OLDEST = 7

export const isTooOld = ({ version }: Probed): boolean => !(Number.parseInt(version ?? '0', 10) >= OLDEST)
