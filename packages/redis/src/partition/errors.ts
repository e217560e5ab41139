import { Unavailable } from '@muster/matchmaker'

/** No process leads the partition at the moment, or it does not answer. What was asked may have been done. */
export class NoLeader extends Unavailable {
  static {
    this.prototype.name = 'NoLeader'
  }
}

/** The partition holds as many tickets, or this process has as many questions open, as it may. Nothing was done. */
export class PartitionFull extends Unavailable {
  static {
    this.prototype.name = 'PartitionFull'
  }
}

/** Redis did not do what it was asked; the cause says why. What was asked may have been done. */
export class PartitionUnavailable extends Unavailable {
  static {
    this.prototype.name = 'PartitionUnavailable'
  }
}
