// pure: what Redis tells of a stream
import type { Reply } from '../connection/script.js'

export interface StreamEntry {
  /** Milliseconds and a number, e.g. `1700000000000-0`. Later entries have greater ids. */
  readonly id: string
  /** Fields and their values, in turn. */
  readonly fields: readonly string[]
}

/** The id before all others. */
export const BEGINNING = '0-0'

/** The entries of one stream in an answer of XREAD: a list of streams, or (RESP 3) an object by their keys. */
export function entriesOfRead(reply: Reply): readonly StreamEntry[] {
  if (reply === null) return []
  const [stream] = Array.isArray(reply) ? reply.map((pair: readonly Reply[]) => pair[1]) : Object.values(reply)
  return entriesOfRange((stream ?? []) as Reply)
}

/** The entries in an answer of XRANGE. */
export const entriesOfRange = (reply: Reply): readonly StreamEntry[] =>
  (reply as readonly (readonly [string, readonly string[]])[]).map(([id, fields]) => ({ id, fields }))

/** Negative if `a` comes before `b`, 0 if they are the same. */
export function compareIds(a: string, b: string): number {
  const [ms = 0, number = 0] = a.split('-').map(Number)
  const [otherMs = 0, otherNumber = 0] = b.split('-').map(Number)
  return ms - otherMs || number - otherNumber
}
