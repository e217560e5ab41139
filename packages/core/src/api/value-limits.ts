/**
 * Limits on values that the specification does not state but public material shows (public facts, sure). The client
 * checks them before it sends a request, and so does the emulator. All of them are settings, because none was checked
 * against a live service.
 */
export interface ValueLimits {
  /** Characters of an application's name. Default 3 to 64. */
  readonly appName: Bounds
  /** Characters of a version's name. Default 1 to 64. */
  readonly versionName: Bounds
  /** CPU units of a version. Default at least 100. */
  readonly reqCpu: Bounds
  /** MB of a version's memory. Default at least 100. */
  readonly reqMemory: Bounds
  /** Minutes that a deployment may run. Default -1 to 1440; the meaning of -1 is not documented. */
  readonly maxDuration: Bounds
  /** Seconds that a version may take to deploy. Default at least 15. */
  readonly timeToDeploy: Bounds
  /** Seconds from SIGTERM to SIGKILL. Default 5 to 3600. */
  readonly terminationGrace: Bounds
  /** Ports of a version. Default 0 to 59999. */
  readonly port: Bounds
  /** Characters of a tag. Default 1 to 40. */
  readonly tagName: Bounds
  /** Bytes of UTF-8 in the value of an environment variable. Default at most 4096. */
  readonly environmentValue: Bounds
}

/** Inclusive bounds. `Infinity` for no bound. */
export interface Bounds {
  readonly min: number
  readonly max: number
}

export const defaultValueLimits: ValueLimits = {
  appName: { min: 3, max: 64 },
  versionName: { min: 1, max: 64 },
  reqCpu: { min: 100, max: Infinity },
  reqMemory: { min: 100, max: Infinity },
  maxDuration: { min: -1, max: 1440 },
  timeToDeploy: { min: 15, max: Infinity },
  terminationGrace: { min: 5, max: 3600 },
  port: { min: 0, max: 59_999 },
  tagName: { min: 1, max: 40 },
  environmentValue: { min: 0, max: 4096 },
}

let inForce = defaultValueLimits

/** Returns the bounds of a value: those of the account while `withValueLimits` runs, otherwise the defaults. */
export const boundsOf = (name: keyof ValueLimits): Bounds => inForce[name]

/** Runs a synchronous `check`. Meanwhile the schemas use the account's limits instead of the defaults. */
export function withValueLimits<T>(accountLimits: ValueLimits, check: () => T): T {
  const before = inForce
  inForce = accountLimits
  try {
    return check()
  } finally {
    inForce = before
  }
}
