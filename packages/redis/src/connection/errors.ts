import { StoreUnavailable } from '@muster/core'

/** Whether a command that failed took effect: certainly not, or nobody knows. */
export type Outcome = 'not-done' | 'unknown'

interface RedisFacts {
  readonly code: string
  readonly outcome: Outcome
  readonly cause?: unknown
}

/**
 * Redis did not do what it was asked. Its message names the script or command, and never a key or a value, because
 * those may belong to a player.
 */
export class RedisError extends StoreUnavailable {
  /** The first word of Redis' answer, e.g. `OOM`; `DISCONNECTED` or `TIMEOUT` where there was none. */
  declare readonly code: string
  /** `not-done`: nothing was changed. `unknown`: it may have been done, for the answer did not come. */
  declare readonly outcome: Outcome

  static {
    this.prototype.name = 'RedisError'
  }

  constructor(message: string, facts: RedisFacts) {
    super(message, facts)
  }
}

/** Redis has no memory left (`OOM`). Nothing was stored. */
export class RedisFull extends RedisError {
  static {
    this.prototype.name = 'RedisFull'
  }
}

/** Redis takes no writes: it is a replica, or cannot persist, or has too few replicas. */
export class RedisReadOnly extends RedisError {
  static {
    this.prototype.name = 'RedisReadOnly'
  }
}

/** A key of this library holds something else: another program uses the same prefix. */
export class RedisWrongType extends RedisError {
  static {
    this.prototype.name = 'RedisWrongType'
  }
}

/** Redis is loading its data, runs a long script, or its cluster is reorganized. It may be asked again later. */
export class RedisBusy extends RedisError {
  static {
    this.prototype.name = 'RedisBusy'
  }
}

/** The keys of one script are in different slots of a cluster. */
export class RedisCrossSlot extends RedisError {
  static {
    this.prototype.name = 'RedisCrossSlot'
  }
}

/** The user or password is wrong, or the user may not do this (ACL). */
export class RedisNotPermitted extends RedisError {
  static {
    this.prototype.name = 'RedisNotPermitted'
  }
}

/** This version of Redis cannot run the scripts. */
export class RedisTooOld extends RedisError {
  static {
    this.prototype.name = 'RedisTooOld'
  }
}

/** There is no connection. `outcome` tells whether the command may have been done before it broke. */
export class RedisDisconnected extends RedisError {
  static {
    this.prototype.name = 'RedisDisconnected'
  }
}

/** Redis did not answer in time. It may still do what it was asked. */
export class RedisTimedOut extends RedisError {
  static {
    this.prototype.name = 'RedisTimedOut'
  }
}
