import { Conflict, MusterError } from '@muster/core'

/** Another process, or another journal of this one, has the journal's file. Wait for its end; nothing is allocated before. */
export class JournalLocked extends Conflict {
  /** The process that has it, as far as its lock file says. */
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
 * The journal's file is damaged in a way that no crash explains: what it says cannot be trusted, and what it does not
 * say may cost money. Move it away, and the reaper stops what nobody owns.
 */
export class JournalCorrupt extends MusterError {
  /** The first line at fault, from 1. */
  readonly line: number

  static {
    this.prototype.name = 'JournalCorrupt'
  }

  constructor(line: number) {
    super(`the journal is damaged: line ${line} is not as it was written, and others after it are`)
    this.line = line
  }
}
