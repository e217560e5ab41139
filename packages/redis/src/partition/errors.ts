import { MusterError } from '@muster/core'

/**
 * No process leads the partition at the moment, or it does not answer: try again. What was asked may have been done.
 */
export class NoLeader extends MusterError {
  /** Milliseconds after which it is worth trying again. */
  readonly retryAfterMs: number

  static {
    this.prototype.name = 'NoLeader'
  }

  constructor(message: string, retryAfterMs = 1000) {
    super(message)
    this.retryAfterMs = retryAfterMs
  }
}

/** The partition holds as many tickets, or this process has as many questions open, as it may. */
export class PartitionFull extends MusterError {
  /** Milliseconds after which it is worth trying again. */
  readonly retryAfterMs: number

  static {
    this.prototype.name = 'PartitionFull'
  }

  constructor(message: string, retryAfterMs = 5000) {
    super(message)
    this.retryAfterMs = retryAfterMs
  }
}
