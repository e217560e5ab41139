import type { CallOptions } from '@muster/core'
import type { Clock } from '@muster/core/clock'
import { scrub, scrubEnd, within } from '@muster/core/internal'
import type { ServerSource } from './source.js'

/** Maximum number of characters kept from the end (our choice): a stack trace and what came before it. */
const MOST_KEPT = 16 * 1024
/**
 * Minimum number of characters of a secret line that is removed, and maximum number of such lines. Shorter lines occur
 * by chance, and more lines cost too much time.
 */
const SHORTEST_LINE = 8
const MOST_LINES = 200
/** Milliseconds by which reading logs may delay a stop (our choice). The server costs money meanwhile. */
const TIMEOUT_MS = 3000
/**
 * Maximum number of concurrent reads (our choice). If more servers fail at once, the others stop without their logs
 * being read.
 */
const MOST_READS = 8

/** The last output of a server. */
export interface ServerOutput {
  /** How the server ended, in a few words. Empty if unknown. */
  readonly head: string
  readonly text: string
}

/** Creates the reader of servers' output. It limits time and number, and removes secrets and addresses. */
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
      // Ignored, because the server's failure and its stop matter more.
      return undefined
    } finally {
      ending.abort()
      reads -= 1
    }
  }
}

function shown({ head, text }: ServerOutput, given: readonly string[]): string | undefined {
  // Logs show a secret of several lines line by line, each after a timestamp. So each line is removed on its own.
  const lines = given.flatMap((secret) => secret.split(/\r?\n/)).filter(({ length }) => length >= SHORTEST_LINE)
  const secrets = [...new Set([...given, ...lines.slice(0, MOST_LINES)])]
  const end = scrubEnd(text, secrets, MOST_KEPT).trimEnd()
  return [scrub(head, secrets).slice(0, 500), end].filter((part) => part !== '').join('\n') || undefined
}
