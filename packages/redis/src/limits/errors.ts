import { MusterError } from '@muster/core'

/**
 * No request may be sent, because Redis does not say how many others send. The cause of calls that time out meanwhile;
 * its own cause is what Redis or its client said.
 */
export class LimitsUnavailable extends MusterError {
  /** Name of the limit. */
  declare readonly limit: string

  static {
    this.prototype.name = 'LimitsUnavailable'
  }

  constructor(limit: string, why: string, cause?: unknown) {
    super(`the shared limit '${limit}' gives no permits: ${why}`, { cause })
    Object.assign(this, { limit })
  }
}
