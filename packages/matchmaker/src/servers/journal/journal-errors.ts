import { Conflict, MusterError } from '@muster/core'

/**
 * Another process, or another journal of this one, has the journal's file. Wait for its end; nothing is allocated
 * before.
 */
export class JournalLocked extends Conflict {
  /** The process that has it, as it says itself; in a container, many have the same. */
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
 * The file is no journal, or is damaged in a way that no crash explains: what it says cannot be trusted, and what it
 * does not say may cost money. It is left as it is. If it is the right file, move it away: the reaper stops what nobody
 * owns.
 */
export class JournalCorrupt extends MusterError {
  readonly path: string
  /** The first line at fault, from 1. */
  readonly line: number

  static {
    this.prototype.name = 'JournalCorrupt'
  }

  /** @param what completes 'the journal … '. */
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
 * A crash cost the journal what was being written at its end, or was not on the disk yet. It goes on without; worth a
 * line in the log.
 */
export class JournalTorn extends MusterError {
  readonly path: string
  /** Bytes that could not be read any more. */
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
