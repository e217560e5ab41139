import { Conflict, MusterError } from '@muster/core'

/**
 * The file of the journal, or of the ticket log, is in use by another process, or by another one of this process. No
 * server is allocated until the journal is free.
 */
export class JournalLocked extends Conflict {
  /**
   * The id of the process that holds the lock, as that process wrote it; processes in different containers may share an
   * id.
   */
  readonly pid: number | undefined

  static {
    this.prototype.name = 'JournalLocked'
  }

  constructor(message: string, pid?: number) {
    super(message)
    this.pid = pid
  }
}

/**
 * The file is no journal, or is damaged in a way that no crash explains. Its entries cannot be trusted, and missing
 * entries may be servers that cost money, so the file is left as it is. If the path is right, move the file away: the
 * reaper then stops deployments without an owner.
 */
export class JournalCorrupt extends MusterError {
  readonly path: string
  /** The number of the first damaged line, from 1. */
  readonly line: number

  static {
    this.prototype.name = 'JournalCorrupt'
  }

  /** @param what the rest of the message after 'the journal <path> '. */
  constructor(
    path: string,
    line: number,
    what = `is damaged: line ${line} is not as it was written, and others after it are`,
  ) {
    super(`the journal ${path} ${what}`)
    this.path = path
    this.line = line
  }
}

/**
 * A crash destroyed the entries that the journal was writing or had not forced onto the disk yet. The journal continues
 * without them; the loss is worth a line in the log.
 */
export class JournalTorn extends MusterError {
  readonly path: string
  /** Number of bytes that could not be read. */
  readonly bytes: number

  static {
    this.prototype.name = 'JournalTorn'
  }

  constructor(path: string, bytes: number) {
    super(`the journal ${path} was torn: ${bytes} bytes that were not safe on the disk are lost`)
    this.path = path
    this.bytes = bytes
  }
}

/**
 * Tickets of a match ended elsewhere before the entry was written, so the match is not what the entry says. Thrown by
 * journals that know tickets, for entries without which a server must not be created. The journal itself works.
 */
export class TicketsGone extends Conflict {
  readonly ticketIds: readonly string[]

  static {
    this.prototype.name = 'TicketsGone'
  }

  constructor(matchId: string, ticketIds: readonly string[]) {
    super(`tickets of match ${matchId} have ended: ${ticketIds.join(', ')}`)
    this.ticketIds = ticketIds
  }
}
