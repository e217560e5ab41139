import { Conflict, MusterError, StoreUnavailable } from '@muster/core'

/** Thrown if the matchmaker was closed. */
export class MatchmakerClosed extends MusterError {
  static {
    this.prototype.name = 'MatchmakerClosed'
  }
}

/**
 * Thrown if a call cannot be served now: the responsible process or the store does not respond, or there are too many
 * tickets. Retry after `retryAfterMs`. The call may have taken effect.
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
 * Thrown if another process, or another store of this process, uses the store's file. Until the file is free, nothing
 * is written and no server is deployed.
 */
export class StoreLocked extends Conflict {
  /** The process id of the lock's holder, if known. In another container the same id may mean another process. */
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
 * Thrown if the file is not a store, has an unknown version, or has damage that no crash explains. The file is not
 * changed, because its lost records may be servers that cost money. If the path is right, move the file away. Muster
 * then stops the deployments without a record.
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

/** The damaged lines of a store's file. */
export interface StoreDamage {
  /** Number of the first damaged line in the file, from 1. */
  readonly line: number
  readonly lines: number
  readonly bytes: number
}

/**
 * Reported if lines of the store's file are damaged, by a crash or by the disk. The store continues without them. Each
 * line was a record, its latest change, or its end.
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

/** Thrown by a log that also stores tickets: another process has ended tickets of the match, so it needs no server. */
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
