import type { CallOptions } from '@muster/core'
import type { Clock } from '@muster/core/clock'
import { scrub, scrubEnd, within } from '@muster/core/internal'
import type { ServerSource } from './source.js'

/** Characters of the end that are kept (our choice): a stack trace and what came before it. */
const MOST_KEPT = 16 * 1024
/** Of lines of secrets: a shorter one is in many texts by chance, and more cost too much time. */
const SHORTEST_LINE = 8
const MOST_LINES = 200
/** Milliseconds by which a stop may be later because of the logs (our choice): the server costs meanwhile. */
const TIMEOUT_MS = 3000
/** Reads under way at most (our choice). When many servers fail at once, the stops of the others do not wait. */
const MOST_READS = 8

/** What a server wrote last. */
export interface Written {
  /** How it ended, in a few words; empty if that is not known. */
  readonly head: string
  readonly text: string
}

/** Creates the reader of what servers wrote: bounded in time and number, without secrets and addresses. */
export function createLogReader(
  read: (handle: string, options: CallOptions) => Promise<Written>,
  clock: Clock,
): NonNullable<ServerSource['logs']> {
  let reads = 0
  return async (handle, secrets) => {
    if (reads >= MOST_READS) return undefined
    reads += 1
    const ending = new AbortController()
    try {
      const found = read(handle, { timeoutMs: TIMEOUT_MS, signal: ending.signal })
      const written = await within(found, TIMEOUT_MS, clock)
      return written && shown(written, secrets)
    } catch {
      // It is the server's failure that matters, and its stop.
      return undefined
    } finally {
      ending.abort()
      reads -= 1
    }
  }
}

function shown({ head, text }: Written, given: readonly string[]): string | undefined {
  // A key of several lines is written line by line, each behind the time.
  const lines = given.flatMap((secret) => secret.split(/\r?\n/)).filter(({ length }) => length >= SHORTEST_LINE)
  const secrets = [...new Set([...given, ...lines.slice(0, MOST_LINES)])]
  const end = scrubEnd(text, secrets, MOST_KEPT).trimEnd()
  return [scrub(head, secrets).slice(0, 500), end].filter((part) => part !== '').join('\n') || undefined
}
