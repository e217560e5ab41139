import { StoreUnavailable } from '@muster/core'
import { nameErrors } from '@muster/core/internal'
import { ClientClosedError, ClientOfflineError, ErrorReply } from '@redis/client'

/** Whether a failed command took effect: certainly not, or unknown. */
export type Outcome = 'not-done' | 'unknown'

interface RedisFacts {
  readonly code: string
  readonly outcome: Outcome
  readonly cause?: unknown
}

/**
 * A call to Redis failed. The message names the script or command, but never a key or a value, because these may belong
 * to a player.
 */
export class RedisError extends StoreUnavailable {
  /** The first word of Redis' error, e.g. `OOM`; `DISCONNECTED` or `TIMEOUT` if there was none. */
  declare readonly code: string
  /** `not-done`: nothing was changed. `unknown`: it may have been done, because no reply came. */
  declare readonly outcome: Outcome

  constructor(message: string, facts: RedisFacts) {
    super(message, facts)
  }
}

/** Redis has no memory left (`OOM`). Nothing was stored. */
export class RedisFull extends RedisError {}

/** Redis accepts no writes: it is a replica, cannot persist, or has too few replicas. */
export class RedisReadOnly extends RedisError {}

/** A key of this library has another type: another program uses the same prefix. */
export class RedisWrongType extends RedisError {}

/** Redis loads its data, runs a long script, or its cluster is being reorganized. The call may be retried later. */
export class RedisBusy extends RedisError {}

/** The keys of one script are in different slots of a cluster. */
export class RedisCrossSlot extends RedisError {}

/** The user or password is wrong, or the user lacks a permission (ACL). */
export class RedisNotPermitted extends RedisError {}

/** Redis is too old to run the scripts. */
export class RedisTooOld extends RedisError {}

/** There is no connection. `outcome` states whether the command may have been done before it broke. */
export class RedisDisconnected extends RedisError {}

/** Redis did not respond in time. The call may still take effect. */
export class RedisTimedOut extends RedisError {}

nameErrors({
  RedisError,
  RedisFull,
  RedisReadOnly,
  RedisWrongType,
  RedisBusy,
  RedisCrossSlot,
  RedisNotPermitted,
  RedisTooOld,
  RedisDisconnected,
  RedisTimedOut,
})

type RefusalWords = readonly [kind: typeof RedisError, words: string]

const readOnly = (why: string): RefusalWords => [RedisReadOnly, `${why}: connect to the primary, or repair it`]
const busy = (why: string): RefusalWords => [RedisBusy, `${why}: try again later`]
const notPermitted: RefusalWords = [
  RedisNotPermitted,
  "is not permitted: check user and password, and that the user may run '@scripting', '@stream', '@read' and INFO " +
    'on this prefix',
]

/** The errors of Redis by their first word. */
const refusals: Readonly<Record<string, RefusalWords>> = {
  OOM: [RedisFull, 'Redis is full and stored nothing: give it more memory (maxmemory)'],
  READONLY: readOnly('this Redis is a read-only replica'),
  MISCONF: readOnly('Redis cannot persist its data, so it takes no writes'),
  NOREPLICAS: readOnly('Redis has fewer replicas than it must have, so it takes no writes'),
  WRONGTYPE: [RedisWrongType, 'a key holds another type: another program uses this prefix; choose one of your own'],
  CROSSSLOT: [RedisCrossSlot, 'its keys are in different slots: all keys of one script need the same hash tag'],
  BUSY: busy('Redis runs a long script'),
  LOADING: busy('Redis is loading its data'),
  MASTERDOWN: busy('this replica has lost its primary'),
  CLUSTERDOWN: busy('the cluster is down'),
  TRYAGAIN: busy('the cluster is reorganized'),
  NOAUTH: notPermitted,
  WRONGPASS: notPermitted,
  NOPERM: notPermitted,
}

/**
 * Converts an error of a Redis client to an error of this package.
 * @param what name of the script or command.
 */
export function failureOf(error: unknown, what: string): RedisError {
  if (error instanceof RedisError) return error
  if (isReply(error)) return refusalOf(error.message, what)
  // Only these two errors mean that the command was never written.
  const wasNotSent = isNamed(error, ClientOfflineError) || isNamed(error, ClientClosedError)
  const outcome = wasNotSent ? 'not-done' : 'unknown'
  const words = wasNotSent ? 'nothing was sent' : 'whether the command ran is not known'
  return new RedisDisconnected(`${what}: there is no connection to Redis; ${words}`, {
    code: 'DISCONNECTED',
    outcome,
    cause: error,
  })
}

function refusalOf(message: string, what: string): RedisError {
  const code = /^[A-Z]+(?= |$)/.exec(message)?.[0] ?? 'ERR'
  const known = refusals[code] ?? (/can't run this command/.test(message) ? notPermitted : undefined)
  if (known === undefined)
    return new RedisError(`${what}: Redis answered ${withoutValues(message)}`, { code, outcome: 'not-done' })
  const [Kind, words] = known
  return new Kind(`${what}: ${words}`, { code, outcome: 'not-done' })
}

/** Redis repeats arguments in some errors, always in quotes. */
const withoutValues = (message: string) => message.replaceAll(/(['"`]).*\1/gs, '…').slice(0, 200)

/** True for an error reply. The client may come from another copy of the package, so classes are compared by name. */
export const isReply = (error: unknown): error is Error =>
  error instanceof ErrorReply ||
  (error instanceof Error && /^(?:SimpleError|BlobError|ErrorReply)$/.test(error.constructor.name))
const isNamed = (error: unknown, kind: new () => Error) =>
  error instanceof kind || (error instanceof Error && error.constructor.name === kind.name)
