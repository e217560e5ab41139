// pure: a queue with other numbers in some places
import type { TimedLimit } from '@muster/matchmaker'
import type { Path } from './limits.js'

/** What one part of a queue becomes. */
export interface Change {
  readonly path: Path
  /** The name of the limit or wait, e.g. `difference skill`. */
  readonly name: string
  /** Whether it is a wait in milliseconds, such as `fillForMs`, instead of a limit. */
  readonly isWait: boolean
  readonly was: TimedLimit
  readonly is: TimedLimit
}

/** The value with the changes made: a copy where it changes, plain data as it was elsewhere. */
export const withChanges = <T>(value: T, changes: readonly Pick<Change, 'path' | 'is'>[]): T =>
  changes.reduce((changed, { path, is }) => withPart(changed, path, is), value)

function withPart<T>(value: T, path: Path, part: unknown): T {
  const [key, ...rest] = path
  if (key === undefined) return part as T
  if (Array.isArray(value))
    return value.map((item: unknown, index) => (index === key ? withPart(item, rest, part) : item)) as T
  const inner = (value as Readonly<Record<string, unknown>>)[key]
  return { ...value, [key]: withPart(inner, rest, part) }
}
