import { Conflict, MusterError, StoreUnavailable } from '@muster/core'

/** The matchmaker was closed. */
export class MatchmakerClosed extends MusterError {
  static {
    this.prototype.name = 'MatchmakerClosed'
  }
}

/**
 * Thrown if a call about tickets cannot be served now. The process that is responsible for them does not answer, or
 * there are too many tickets. Retry after `retryAfterMs`. The call may have taken effect.
 */
export class Unavailable extends StoreUnavailable {
  /** Milliseconds after which a retry makes sense. */
  readonly retryAfterMs: number

  static {
    this.prototype.name = 'Unavailable'
  }

  constructor(message: string, { retryAfterMs = 1000, cause }: { retryAfterMs?: number; cause?: unknown } = {}) {
    super(message, { cause })
    this.retryAfterMs = retryAfterMs
  }
}

/**
 * Thrown if the file is in use by another process, or by another store of this process. Nothing is written and no
 * server is deployed until the file is free.
 */
export class StoreLocked extends Conflict {
  /** The id of the process that holds the lock. Processes in different containers may have the same id. */
  readonly pid: number | undefined

  static {
    this.prototype.name = 'StoreLocked'
  }

  constructor(message: string, pid?: number) {
    super(message)
    this.pid = pid
  }
}

/**
 * Thrown if the file is not a store, was written by another version, or is damaged in a way that no crash explains. The
 * file is not changed, because missing records may be servers that cost money. If the path is right, move the file
 * away. The reaper then stops deployments without an owner.
 */
export class StoreCorrupt extends MusterError {
  readonly path: string
  /** The number of the first faulty line, from 1. */
  readonly line: number

  static {
    this.prototype.name = 'StoreCorrupt'
  }

  constructor(message: string, path: string, line: number) {
    super(message)
    this.path = path
    this.line = line
  }
}

/** The lines of a file that differ from what was written. */
export interface StoreDamage {
  /** Number of the first damaged line in the file, from 1. */
  readonly line: number
  readonly lines: number
  readonly bytes: number
}

/**
 * Reported if a crash tore lines that were being written or had not reached the disk, or the disk is damaged. The store
 * continues without these lines. Their content is lost: a record, its latest change, or its end.
 */
export class StoreTorn extends MusterError implements StoreDamage {
  readonly path: string
  readonly line: number
  readonly lines: number
  readonly bytes: number

  static {
    this.prototype.name = 'StoreTorn'
  }

  constructor(path: string, { line, lines, bytes }: StoreDamage) {
    const skipped = `skipped ${lines} corrupt lines (${bytes} bytes) from line ${line}`
    super(`Store ${path}: ${skipped}. Their records or changes are lost.`)
    this.path = path
    this.line = line
    this.lines = lines
    this.bytes = bytes
  }
}

/**
 * Thrown by server logs that also store tickets, for an entry that must be written before a server is created. Another
 * process ended tickets of the match first, so the entry no longer describes the match. The log itself works.
 */
export class TicketsGone extends Conflict {
  readonly ticketIds: readonly string[]

  static {
    this.prototype.name = 'TicketsGone'
  }

  constructor(matchId: string, ticketIds: readonly string[]) {
    super(`Tickets of match ${matchId} have ended: ${ticketIds.join(', ')}. Its server is not created.`)
    this.ticketIds = ticketIds
  }
}
