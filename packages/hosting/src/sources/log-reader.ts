import type { CallOptions } from '@muster/core'
import type { Clock } from '@muster/core/clock'
import { scrub, scrubEnd, within } from '@muster/core/internal'
import type { ServerSource } from './source.js'

/**
 * Maximum number of characters that are kept of an output's end (our choice): a stack trace and the lines before it.
 */
const MOST_KEPT = 16 * 1024
/**
 * Minimum characters of a secret's line that is removed, and maximum number of lines. Shorter lines may be common
 * text.
 */
const SHORTEST_LINE = 8
const MOST_LINES = 200
/** Maximum milliseconds by which reading the logs may delay a stop (our choice). */
const TIMEOUT_MS = 3000
/** Maximum number of concurrent reads (our choice). The logs of further servers that fail at once are not read. */
const MOST_READS = 8

/** The last output of a failed server. */
export interface ServerOutput {
  /** How the server ended, e.g. its exit code. Empty if unknown. */
  readonly head: string
  readonly text: string
}

/** Creates a function that reads the last output of a server, without secrets and addresses, within 3 s. */
export function createLogReader(
  read: (handle: string, options: CallOptions) => Promise<ServerOutput>,
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
      // Ignore the error: the logs matter less than the server's stop.
      return undefined
    } finally {
      ending.abort()
      reads -= 1
    }
  }
}

function shown({ head, text }: ServerOutput, given: readonly string[]): string | undefined {
  // Logs show a secret of several lines as separate lines, each after a timestamp. So each of its lines is removed
  // too.
  const lines = given.flatMap((secret) => secret.split(/\r?\n/)).filter(({ length }) => length >= SHORTEST_LINE)
  const secrets = [...new Set([...given, ...lines.slice(0, MOST_LINES)])]
  const end = scrubEnd(text, secrets, MOST_KEPT).trimEnd()
  return [scrub(head, secrets).slice(0, 500), end].filter((part) => part !== '').join('\n') || undefined
}
