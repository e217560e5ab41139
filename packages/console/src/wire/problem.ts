// pure: what a refused request is told

/** The body of every answer with an error status. */
export interface Problem {
  readonly code: string
  /** One sentence, fit to be shown. */
  readonly message: string
  readonly field?: string
  /** Where a queue's YAML is wrong, in the order of its lines; only of `PUT queues/{name}` and `POST trials`. */
  readonly faults?: readonly YamlFault[]
}

/** A place in the YAML as it was sent: line and column count from 1. */
export interface YamlFault {
  readonly line: number
  readonly column: number
  readonly message: string
}
