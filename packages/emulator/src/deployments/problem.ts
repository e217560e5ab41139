// pure: problems as values, not as exceptions
/** A problem with a part of a request: a message for the caller. */
export interface Problem {
  readonly problem: string
}

export const isProblem = <T>(value: T | Problem): value is Problem =>
  typeof value === 'object' && value !== null && 'problem' in value
