import { InvalidInput } from '@muster/core'

/** A line of a crowd or a recording cannot be used. Nothing of it is used then. */
export class InvalidCrowd extends InvalidInput {
  /** From 1. */
  readonly line: number
  /** In UTF-16 units, from 1, where that is known. */
  declare readonly column?: number
  /** What is wrong, in words that follow the place and the field. */
  readonly wrong: string

  static {
    this.prototype.name = 'InvalidCrowd'
  }

  /** @param field path in the line, e.g. `visits.0.playMs`; '' for the line as a whole. */
  constructor(line: number, field: string, wrong: string, column?: number) {
    super(`line ${line}: ${field === '' ? '' : `${field}: `}${wrong}`, { field })
    this.line = line
    this.wrong = wrong
    if (column !== undefined) this.column = column
  }
}
