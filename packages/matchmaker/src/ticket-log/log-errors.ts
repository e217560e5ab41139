import { MusterError } from '@muster/core'

/** Lines that are not as they were written. */
export interface LogDamage {
  /** The number of the first of them in the file, from 1. */
  readonly line: number
  readonly lines: number
  readonly bytes: number
}

/** The file is no ticket log, or was written by another version. It is left as it is. */
export class LogUnreadable extends MusterError {
  readonly path: string

  static {
    this.prototype.name = 'LogUnreadable'
  }

  /** @param what the rest of the message after 'the ticket log <path> '. */
  constructor(path: string, what: string) {
    super(`the ticket log ${path} ${what}`)
    this.path = path
  }
}

/**
 * Lines of the ticket log are not as they were written: a crash tore the last one, or the disk is damaged. The log goes
 * on without them. What they told is lost: a ticket, the state that it had, or that it had ended.
 */
export class LogDamaged extends MusterError implements LogDamage {
  readonly path: string
  readonly line: number
  readonly lines: number
  readonly bytes: number

  static {
    this.prototype.name = 'LogDamaged'
  }

  constructor(path: string, { line, lines, bytes }: LogDamage) {
    super(`the ticket log ${path} was damaged: ${lines} lines of ${bytes} bytes are lost, the first is line ${line}`)
    this.path = path
    this.line = line
    this.lines = lines
    this.bytes = bytes
  }
}
