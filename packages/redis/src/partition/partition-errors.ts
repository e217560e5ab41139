import { Conflict, MusterError } from '@muster/core'
import { nameErrors } from '@muster/core/internal'
import { Unavailable } from '@muster/matchmaker'

/** No process leads the partition at the moment, or the leader does not respond. The call may have taken effect. */
export class NoLeader extends Unavailable {}

/**
 * The partition has the maximum number of tickets, or this process has the maximum number of open RPC requests. Nothing
 * was done.
 */
export class PartitionFull extends Unavailable {}

/**
 * A later version of Muster has led this partition, and its records are in a format that this version cannot read. Stop
 * this process, or run the later version. Nothing was changed.
 */
export class PartitionNewer extends Unavailable {
  /** @param format of the records in Redis. @param readable the latest format that this version reads. */
  constructor(format: number, readable: number) {
    super(
      `The partition in Redis has format ${format}, of a later version of Muster; this version reads up to ` +
        `${readable}. Nothing was changed. Run the later version in this process too.`,
    )
  }
}

/** A call to Redis failed; see the cause. The call may have taken effect. */
export class PartitionUnavailable extends Unavailable {}

/**
 * The clock of this process or of Redis is wrong. A partition times tickets, waits, cooldowns and matches by Redis'
 * clock: see docs/scale-out.md.
 */
export class ClockDiffers extends MusterError {
  /** @param offsetMs milliseconds by which the clock of Redis is ahead. */
  constructor(offsetMs: number) {
    const seconds = Math.round(Math.abs(offsetMs) / 1000)
    const how = offsetMs < 0 ? 'ahead of' : 'behind'
    super(
      `The clock of this process is ${seconds} s ${how} the clock of Redis, ` +
        'which times tickets. Synchronize the clocks.',
    )
  }
}

/**
 * The leader has other options than this process, e.g. other pools. The leader's options decide. Give all processes the
 * same.
 */
export class ConfigurationDiffers extends MusterError {
  /** @param parts what differs, in words. @param leader the leader, named for people. */
  constructor(parts: readonly string[], leader: string) {
    super(
      `The leader, ${leader}, is configured differently from this process: ${parts.join(', ')}. ` +
        'Deploy the same configuration everywhere.',
    )
  }
}

/**
 * Another process has become the leader of the partition, or Redis has lost its data. The decision is void, and nothing
 * was written.
 */
export class LeaseLost extends Conflict {
  constructor(partition: string) {
    super(
      `Partition ${JSON.stringify(partition)}: lost the lease ` +
        '(another process leads, or Redis lost its data). Nothing was written.',
    )
  }
}

/**
 * Redis was emptied or has gone back to an earlier state while processes ran: tickets and records of matches and
 * servers are lost. Servers may have players on them, so servers without a record are not stopped until the longest
 * match can be over.
 */
export class RecordsVanished extends MusterError {
  /** @param hasGoneBack true if Redis still has older records. */
  constructor(partition: string, hasGoneBack = false) {
    const records = `records of partition ${JSON.stringify(partition)} have vanished from Redis`
    const what = hasGoneBack
      ? `Newer ${records}: an older snapshot was restored, or a failover lost the last writes. ` +
        'Tickets have their earlier state.'
      : `The ${records}: it was emptied, or restarted without persistence. Tickets are lost.`
    super(`${what} Servers without a record run on until the longest match can be over, since players may be on them.`)
  }
}

nameErrors({
  NoLeader,
  PartitionFull,
  PartitionNewer,
  PartitionUnavailable,
  ClockDiffers,
  ConfigurationDiffers,
  LeaseLost,
  RecordsVanished,
})
